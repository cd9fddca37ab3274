import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy.ts'
import { words } from '../words/en.ts'

interface Props {
  readonly children: ReactNode
  /** A new value shows the children again. */
  readonly resetKey: string
}

/** A fault in one screen leaves the frame and the other screens usable. */
export class Boundary extends Component<Props, { readonly fault: Error | null }> {
  override state: { readonly fault: Error | null } = { fault: null }

  static getDerivedStateFromError(fault: unknown) {
    return { fault: fault instanceof Error ? fault : new Error(String(fault)) }
  }

  override componentDidUpdate(before: Props) {
    if (before.resetKey !== this.props.resetKey && this.state.fault !== null) this.setState({ fault: null })
  }

  override render() {
    const { fault } = this.state
    if (fault === null) return this.props.children
    return (
      <div role="alert" className="m-3 max-w-3xl rounded-card border border-danger bg-danger-tint p-4">
        <p className="font-medium">{words.errors.crashed}</p>
        <p className="mt-1 text-dense text-text-2">{words.errors.crashedHint}</p>
        <pre className="mt-2 max-h-40 overflow-auto text-dense whitespace-pre-wrap">{fault.message}</pre>
        <div className="mt-3 flex gap-2">
          <Button onClick={() => this.setState({ fault: null })}>{words.retry}</Button>
          <Button
            look="quiet"
            onClick={() => void copyText(`${fault.message}\n${fault.stack ?? ''}`, words.errors.details)}
          >
            {words.errors.details}
          </Button>
        </div>
      </div>
    )
  }
}
