import type { ManifestBody } from '../../contract/index.ts'
import { compareBodies } from '../kit/compare-bodies.ts'
import { manifestBody, ROOT, setting, source } from '../kit/manifest-body.ts'
import { median } from './daemon.ts'
import type { Item } from './items.ts'
import { ms } from './table.ts'

const SOURCES = 5_000

/** A tree with a rule file in every folder; every hundredth differs on the other side, and some are only there. */
function large(side: 'a' | 'b'): ManifestBody {
  return manifestBody((body) => {
    body.instructions.sources = Array.from({ length: SOURCES }, (_, n) => {
      const differs = side === 'b' && n % 100 === 0
      const name = differs && n % 500 === 0 ? `moved-${n}` : `part-${n}`
      return source(`${ROOT}/packages/${name}/CLAUDE.md`, `Rule ${n}${differs ? ', now another' : ''}.`, {
        position: n % 3 === 0 ? null : n,
        status: n % 3 === 0 ? 'lazy' : 'loaded',
      })
    })
    for (let n = 0; n < 500; n++) body.settings[`key.${n}`] = setting(side === 'b' && n % 50 === 0 ? 'new' : 'old')
    if (side === 'b') body.instructions.effective_digest = `sha256:${'b'.repeat(64)}`
  })
}

export const compareItem: Item = {
  name: 'compare',
  about: `difference of two manifests of ${SOURCES} sources`,
  async run() {
    const [a, b] = [large('a'), large('b')]
    const took: number[] = []
    const bare: number[] = []
    const cpu: number[] = []
    let fields = 0
    for (let n = 0; n < 15; n++) {
      const start = performance.now()
      if (JSON.stringify(a) === JSON.stringify(b)) throw new Error('the two manifests are equal')
      bare.push(performance.now() - start)
      const used = process.cpuUsage()
      const from = performance.now()
      fields = (await compareBodies(a, b)).fields.length
      took.push(performance.now() - from)
      const { user, system } = process.cpuUsage(used)
      cpu.push((user + system) / 1_000)
    }
    const [first = Number.NaN] = took
    const line = (what: string, value: number) => ({
      what,
      measured: ms(value),
      baseline: `${ms(median(bare))} JSON.stringify of both`,
      ratio: (value / median(bare)).toFixed(1),
      aim: '≤ 150 ms',
      met: value <= 150,
    })
    return [
      line(`compare, ${SOURCES} sources each, ${fields} fields differ: first time`, first),
      line(`compare: again (median; ${ms(median(cpu))} CPU)`, median(took)),
    ]
  },
}
