/** Agents whose homes can be watched; the two other runtimes are of runs Reprise starts itself. */
export const runtimeNamesOfHomes = ['claude-code', 'codex', 'openclaw', 'hermes'] as const
export type HomeRuntime = (typeof runtimeNamesOfHomes)[number]
