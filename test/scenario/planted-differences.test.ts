import { describe } from 'vitest'
import { plantedClaudeCode } from '../kit/planted/claude-code.ts'
import { plantedCodex } from '../kit/planted/codex.ts'
import { plantedHermes } from '../kit/planted/hermes.ts'
import { plantedOpenClaw } from '../kit/planted/openclaw.ts'
import type { PlantedRuntime } from '../kit/planted/plants.ts'
import { testPlants } from '../kit/planted/suite.ts'

const runtimes: readonly PlantedRuntime[] = [plantedClaudeCode, plantedCodex, plantedOpenClaw, plantedHermes]

describe.each(runtimes.map((runtime) => [runtime.runtime, runtime] as const))(
  '%s: why two runs differ',
  (_, runtime) => {
    testPlants(runtime)
  },
)
