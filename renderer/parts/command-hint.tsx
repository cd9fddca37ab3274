import { SquareTerminal } from 'lucide-react'
import { words } from '../words/en.ts'
import { Button } from './button.tsx'
import { copyText } from './copy.ts'

/** The same act or view as a command line. */
export function CommandHint({ command }: { readonly command: string }) {
  return (
    <Button
      look="quiet"
      small
      title={command}
      onClick={() => void copyText(command, command)}
      icon={<SquareTerminal size={14} strokeWidth={1.75} aria-hidden="true" />}
    >
      {words.copyCommand}
    </Button>
  )
}

/** Quotes an argument for a POSIX shell where it needs it. */
export const shellWord = (text: string) =>
  /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
