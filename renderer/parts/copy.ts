import { desktop } from '../desktop.ts'
import { toast } from '../shell/toasts.tsx'
import { words } from '../words/en.ts'

/** Copies text and says so. Revealed secrets never come here: callers pass the text as it is covered. */
export async function copyText(text: string, what: string): Promise<void> {
  const bridge = desktop()
  if (bridge !== null) await bridge.copyText(text)
  else await navigator.clipboard.writeText(text)
  toast(words.copiedWhat(what))
}
