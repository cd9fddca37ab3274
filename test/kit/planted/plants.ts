import type { CauseClass, RuntimeName } from '../../../contract/index.ts'
import type { TestHome } from '../fixture-home.ts'

/** A throw-away machine: one home of one agent, one workspace, nothing else. */
export interface World {
  readonly test: TestHome
  /** The user's home directory. */
  readonly home: string
  readonly workspace: string
}

/** How one run differs from the plain one, where that is no matter of files. */
export interface RunOptions {
  readonly cwd?: string
  readonly version?: string
  /** The model that answers. */
  readonly model?: string
  /** Tools of MCP servers that stand in the request, by their full name. */
  readonly mcpTools?: readonly string[]
  /** Answers differ: what the model does after its first step. */
  readonly ending?: 'good' | 'bad'
}

/** One planted difference, and what has to be said of it first. */
export interface Plant {
  readonly name: string
  /** Prepares the machine before the first run, beyond the base tree. */
  readonly before?: (world: World) => void
  readonly first?: (world: World) => RunOptions
  /** Changes the machine between the runs. A run of its own may be asked for. */
  readonly plant?: (world: World, other: (options: OtherRun) => Promise<string>) => void | Promise<void>
  readonly second?: (world: World) => RunOptions
  readonly expect: {
    readonly kind: string
    readonly class: CauseClass
    readonly title: RegExp
  }
}

/** A run between the two, of which only one file counts: the one it wrote. */
export interface OtherRun {
  readonly writes: string
  readonly content: string
}

/** What the suite must be able to do with an agent. Adding an agent is adding one of these. */
export interface PlantedRuntime {
  readonly runtime: RuntimeName
  /** The tree every pair begins with. */
  lay(world: World): void
  /** Takes back what a run changed, so that only the planted difference counts. */
  reset(world: World): void
  /** One run, on disk as the agent would leave it, begun now. Gives its session id. */
  run(world: World, n: number, options: RunOptions): string | Promise<string>
  /** A run that writes one file. */
  runWriting(world: World, n: number, other: OtherRun): string | Promise<string>
  /** Three differences that reach no run: an unused skill, a variable nobody reads, a setting about looks. */
  addIrrelevant(world: World): void
  readonly plants: readonly Plant[]
}

/** The suite has six plants for each agent, out of these. */
export const plantNames = [
  'program version',
  'nested rule',
  'import lost by the start directory',
  'setting overridden',
  'tool of an MCP server',
  'memory changed by another run',
  'trust revoked',
  'model alias moved',
  'environment variable',
  'skill body',
  'truncation',
  'repository',
] as const
