import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SampleHome, writeSampleHome } from '../../daemon/demo/sample-home.ts'
import { MeasuredDaemon } from './daemon.ts'
import { type Generated, writeBigTranscript, writeManyRuns, writeOrdinarySessions } from './generate.ts'

export interface Sizes {
  readonly ordinaryMb: number
  readonly bigMb: number
  readonly longLineMb: number
  readonly runs: number
  readonly events: number
  /** Session folders of one small session each. */
  readonly folders: number
}

export interface DataSet {
  /** To be used as the user's home. */
  readonly home: string
  readonly generated: Generated
}

export interface ImportedRuns extends DataSet {
  /** Data directory into which the daemon has imported the home. */
  readonly data: string
  readonly readMs: number
  readonly searchableMs: number
  readonly runs: number
  readonly events: number
}

/** Makes what the items need, once, below one throw-away directory. */
export class DataSets {
  readonly dir: string
  readonly sizes: Sizes
  private readonly tell: (text: string) => void
  private imported: Promise<ImportedRuns> | null = null

  constructor(dir: string, sizes: Sizes, tell: (text: string) => void) {
    this.dir = dir
    this.sizes = sizes
    this.tell = tell
    mkdirSync(dir, { recursive: true })
  }

  fresh(name: string): string {
    const path = join(this.dir, name)
    rmSync(path, { recursive: true, force: true })
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  }

  ordinary(): DataSet {
    const home = this.fresh('ordinary')
    this.tell(`writing ${this.sizes.ordinaryMb} MB of ordinary sessions`)
    return { home, generated: writeOrdinarySessions(join(home, '.claude'), this.sizes.ordinaryMb * 1e6) }
  }

  big(): DataSet {
    const home = this.fresh('big')
    this.tell(`writing one session of ${this.sizes.bigMb} MB with a line of ${this.sizes.longLineMb} MB`)
    return {
      home,
      generated: writeBigTranscript(join(home, '.claude'), this.sizes.bigMb * 1e6, this.sizes.longLineMb * 1e6),
    }
  }

  sample(): SampleHome {
    return writeSampleHome({ dir: this.fresh('sample'), now: new Date() })
  }

  /** A home with a folder for every session, as those have whose agent runs in worktrees (field report B23). */
  manyFolders(count: number): string {
    const home = this.fresh('many-folders')
    for (let n = 0; n < count; n++) {
      const folder = join(home, '.claude', 'projects', `-home-sample-work-w${n}`)
      mkdirSync(folder, { recursive: true })
      const row = {
        parentUuid: null,
        isSidechain: false,
        type: 'user',
        message: { role: 'user', content: 'hello' },
        uuid: `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
      }
      const rest = {
        timestamp: '2026-11-01T08:00:00.000Z',
        cwd: `/home/sample/work/w${n}`,
        sessionId: `00000000-0000-4000-9000-${n.toString(16).padStart(12, '0')}`,
        version: '2.1.332',
      }
      writeFileSync(join(folder, `${rest.sessionId}.jsonl`), `${JSON.stringify({ ...row, ...rest })}\n`)
    }
    return home
  }

  /** 10,000 runs with 1,000,000 events, imported by the daemon itself. */
  manyRuns(): Promise<ImportedRuns> {
    this.imported ??= this.importManyRuns()
    return this.imported
  }

  private async importManyRuns(): Promise<ImportedRuns> {
    const home = this.fresh('many-runs')
    const data = this.fresh('many-runs-data')
    const { runs, events } = this.sizes
    this.tell(`writing ${runs} sessions with ${events} events`)
    const generated = writeManyRuns(join(home, '.claude'), { runs, events, projects: 200, now: new Date() })
    this.tell(`importing them (${(generated.bytes / 1e6).toFixed(0)} MB)`)
    const daemon = await MeasuredDaemon.start({ home, data })
    try {
      const settled = await daemon.settle()
      return { home, data, generated, ...settled }
    } finally {
      await daemon.stop()
    }
  }

  remove(): void {
    if (existsSync(this.dir)) rmSync(this.dir, { recursive: true, force: true })
  }
}
