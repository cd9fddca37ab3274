/** Types of the script for the test kit. */
export declare const agents: Readonly<
  Record<'claude-code', { readonly package: string; readonly version: string; readonly executable: RegExp }>
>
export declare function agentFolder(name: keyof typeof agents): string
export declare function findExecutable(name: keyof typeof agents): string | null
