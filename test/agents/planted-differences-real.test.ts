import { describe } from 'vitest'
import { withoutAgents } from '../kit/agent-binaries.ts'
import { deedsOf, plantedClaudeCode } from '../kit/planted/claude-code.ts'
import type { Deed } from '../kit/planted/claude-code-session.ts'
import type { PlantedRuntime, World } from '../kit/planted/plants.ts'
import { testPlants } from '../kit/planted/suite.ts'
import { runRealClaudeCode } from '../kit/run-claude-code.ts'
import { type ScriptedBlock, startScriptedMessages } from '../kit/scripted-messages.ts'

/** The same pairs with sessions that the real program wrote, against a scripted model on loopback. */
const skip = withoutAgents()
if (skip) console.warn('REPRISE_WITHOUT_AGENTS=1: no pair of runs of the real program of Claude Code')

const blockOf = (deed: Deed): ScriptedBlock => {
  if ('say' in deed) return { type: 'text', text: deed.say }
  if ('read' in deed) return { type: 'tool_use', name: 'Read', input: { file_path: deed.read } }
  if ('write' in deed)
    return { type: 'tool_use', name: 'Write', input: { file_path: deed.write, content: deed.content } }
  if ('bash' in deed)
    return {
      type: 'tool_use',
      name: 'Bash',
      input: {
        command: deed.failed ? 'echo 1 failed; exit 1' : deed.bash.startsWith('npm') ? 'echo 4 passed' : deed.bash,
      },
    }
  if ('skill' in deed) return { type: 'tool_use', name: 'Skill', input: { skill: deed.skill } }
  return { type: 'tool_use', name: deed.call, input: deed.input }
}

const realRun = async ({ home }: World, cwd: string, prompt: string, deeds: readonly Deed[]): Promise<string> => {
  // One answer for each deed: what is said along the way stands with the call that follows.
  const turns: ScriptedBlock[][] = [[]]
  for (const deed of deeds) {
    turns.at(-1)?.push(blockOf(deed))
    if (!('say' in deed)) turns.push([])
  }
  const server = await startScriptedMessages((_, n) => ({ blocks: turns[n - 1] ?? [{ type: 'text', text: 'done' }] }))
  try {
    const run = await runRealClaudeCode({
      home,
      cwd,
      args: ['-p', prompt, '--output-format', 'json', '--allowedTools', 'Read,Write,Bash,Skill'],
      baseUrl: server.url,
    })
    if (run.code !== 0) throw new Error(run.stderr)
    return String((JSON.parse(run.stdout) as { session_id: string }).session_id)
  } finally {
    await server.close()
  }
}

const realClaudeCode: PlantedRuntime = {
  ...plantedClaudeCode,
  async run(world, _, options) {
    plantedClaudeCode.reset(world)
    const deeds = deedsOf(world, options, [])
    return realRun(world, options.cwd ?? world.workspace, 'Fix the flaky retry test.', deeds)
  },
  runWriting: (world, _, { writes, content }) =>
    realRun(world, world.workspace, 'Keep this in mind.', [{ write: writes, content }]),
}
/** Those that need no other program and no other model than there is, and that the start of the program itself might disturb. */
const real = [
  'nested rule',
  'import lost by the start directory',
  'trust revoked',
  'skill body',
  'truncation',
  'repository',
  'environment variable',
]

describe.skipIf(skip)('the real program of Claude Code: why two runs differ', () => {
  testPlants(
    realClaudeCode,
    realClaudeCode.plants.filter(({ name }) => real.includes(name)),
  )
})
