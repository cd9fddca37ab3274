/** Types of the script for the test kit. */
interface Agent {
  readonly package: string
  readonly version: string
  readonly executable?: RegExp
  readonly script?: string
  readonly node?: string
}
export declare const agents: Readonly<Record<'claude-code' | 'codex' | 'openclaw', Agent>>
export declare function agentFolder(name: keyof typeof agents): string
export declare function findCommand(name: keyof typeof agents): readonly string[] | null
