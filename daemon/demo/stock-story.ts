import type { SampleStage } from './sample-stage.ts'
import { runTests, stock } from './shop-files.ts'
import { WorkTree } from './work-tree.ts'

const oneTest = 'ok 1 - reads items\n# pass 1\n# fail 0'

/** The stock notes: a subagent, failing tools, a compaction, a fork, a resumed session, a secret in an output, a torn line. */
export function tellStockStory(
  stage: SampleStage,
  root: string,
): { readonly tree: WorkTree; readonly lastSession: string } {
  const { random } = stage
  const tree = new WorkTree(root)
  tree.write('package.json', stock.package)
  tree.write('CLAUDE.md', stock.claudeMd)
  tree.write('data/levels.csv', stock.csv)
  tree.commit('Start the stock notes', stage.ago(7, 700))

  const agentId = `a${random.hex(16)}`
  const task = 'Read data/levels.csv and say which columns it has and which lines look odd.'
  const plan = { tree, startedAt: stage.ago(7, 640) }
  const first = stage.begin(plan)
  first.ask('Read the stock levels from the CSV file. Have somebody look at the data first.', [
    [
      { text: 'A second pair of eyes looks at the data.' },
      {
        agent: 'test-reader',
        prompt: task,
        agentId,
        answer: 'Three columns: item, pieces, minimum. Three lines, all whole numbers. Nothing odd.',
        tools: ['Read'],
        ms: 7_400,
      },
    ],
    [
      { write: 'src/levels.js', content: stock.levels },
      { write: 'test/levels.test.js', content: stock.levelsTest },
    ],
    [{ bash: runTests, why: 'Run the tests', output: oneTest }],
    [{ text: '`readLevels` gives item, pieces and minimum of each line.' }],
  ])
  first.stop()
  const agent = stage.subagent(
    first,
    { tree, startedAt: new Date(plan.startedAt.getTime() + 5_000) },
    agentId,
    'test-reader',
  )
  agent.ask(task, [
    [{ read: 'data/levels.csv' }],
    [{ text: 'Three columns: item, pieces, minimum. Three lines, all whole numbers. Nothing odd.' }],
  ])
  const toolUseId = /"id":"(toolu_[0-9a-z]+)","name":"Agent"/.exec(first.file)?.[1] ?? null
  stage.finishSubagent(agent, first, tree, agentId, {
    agentType: 'test-reader',
    description: task.slice(0, 32),
    toolUseId,
    spawnDepth: 1,
    requestShape: 'foreground',
    model: 'claude-opus-5-5',
    finished: true,
  })
  stage.finish(first, tree)
  tree.commit('Read stock levels', stage.ago(7, 600))

  const clumsy = stage.begin({ tree, startedAt: stage.ago(6, 410) })
  clumsy.ask('Items may be quoted, with a comma inside. Handle that.', [
    [{ read: 'src/level.js' }],
    [
      { text: 'That is not its name.' },
      { bash: 'ls src test', why: 'List the files', output: 'src:\nlevels.js\n\ntest:\nlevels.test.js' },
      {
        bash: 'cat package.jsn',
        why: 'Read the package file',
        output: 'cat: package.jsn: No such file or directory',
        exit: 1,
      },
      { read: 'src/levels.js' },
    ],
    [{ edit: 'src/levels.js', from: "line.split(';')", to: 'splitLine(line)' }],
    [{ tool: 'Lint', input: { path: 'src' }, fails: '<tool_use_error>No such tool: Lint</tool_use_error>' }],
    [
      {
        bash: 'npm run watch',
        why: 'Keep the tests running',
        output: 'Command timed out after 2m',
        exit: 143,
        ms: 120_000,
      },
    ],
    [{ write: 'src/levels.js', content: stock.levelsQuoted }],
    [{ bash: runTests, why: 'Run the tests', output: oneTest }],
    [
      {
        text: 'Quoted items are read now. I looked for the wrong file first and there is no watch script; both did no harm.',
      },
    ],
  ])
  clumsy.stop()
  stage.finish(clumsy, tree)
  tree.commit('Read quoted items', stage.ago(6, 380))

  const long = stage.begin({ tree, startedAt: stage.ago(4, 620) })
  long.ask('Write a report of what to order.', [
    [{ read: 'src/levels.js' }],
    [{ write: 'src/report.js', content: stock.report }],
    [
      {
        bash: `node --input-type=module -e "import { whatToOrder } from './src/report.js'; import { readFileSync } from 'node:fs'; console.log(whatToOrder(readFileSync('data/levels.csv', 'utf8')))"`,
        why: 'Try it on the data',
        output: "[ 'tea: 6', 'filters: 25' ]",
      },
    ],
    [{ text: 'The report names the items below their minimum and how many are missing.' }],
  ])
  const fork = stage.begin({ tree: new ForkedTree(tree), startedAt: stage.ago(3, 700) })
  fork.copyFrom(long)
  long.wait(240_000)
  long.ask('Show urgent items first, those that are sold out.', [
    [{ thinking: 'Two lists: sold out, and low.' }, { write: 'src/report.js', content: stock.reportGrouped }],
    [{ bash: runTests, why: 'Run the tests', output: oneTest }],
    [{ text: '`whatToOrder` gives `urgent` and `later`.' }],
  ])
  long.stop()
  long.wait(60_000)
  long.compact(
    '1. The user wants an order list from stock levels.\n2. `src/report.js` gives `urgent` and `later`.\n3. Tests pass.\n4. Open: show suppliers.',
  )
  long.wait(40 * 60_000)
  long.ask('Where would suppliers come from?', [
    [{ bash: 'head -1 data/levels.csv', why: 'See the columns', output: 'item,pieces,minimum' }],
    [{ text: 'The CSV has no supplier column. A second file, item to supplier, would be the smallest step.' }],
  ])
  long.stop()
  stage.finish(long, tree)
  tree.commit('Report what to order', stage.ago(4, 560))

  fork.clockMs = stage.ago(3, 700).getTime()
  fork.ask('Instead of two lists: sort one list by how much is missing.', [
    [
      {
        edit: 'src/report.js',
        from: '    .filter((level) => level.pieces < level.minimum)\n',
        to: '    .filter((level) => level.pieces < level.minimum)\n    .sort((a, b) => b.minimum - b.pieces - (a.minimum - a.pieces))\n',
      },
    ],
    [{ text: 'One list, most missing first. I left it uncommitted for you to compare.' }],
  ])
  fork.stop()
  stage.finish(fork, tree)

  const token = `ghp_${random.hex(36)}`
  const secret = stage.begin({ tree, startedAt: stage.ago(2, 130) })
  secret.ask('The upload to the staging shop is refused. Find out why.', [
    [
      {
        bash: 'cat .env.staging',
        why: 'Read the staging settings',
        output: `SHOP_URL=http://localhost:8080\nSHOP_TOKEN=${token}\nSHOP_USER=stock`,
      },
    ],
    [
      { text: 'The settings look complete. I check how the token is sent.' },
      { bash: "grep -rn 'SHOP_TOKEN' src || true", why: 'Look for its use', output: '' },
    ],
    [{ text: 'Nothing in `src` uses the token, so the request goes out without it. That is why it is refused.' }],
  ])
  secret.stop()
  // As if the machine had lost power in mid-write: one line ends early, the next begins on a line of its own.
  stage.finish(secret, tree, (text) => {
    const lines = text.split('\n')
    const last = lines.findIndex((line) => line.includes('"type":"last-prompt"'))
    lines.splice(last, 0, `${(lines[last - 1] ?? '').slice(0, 180)}`)
    return lines.join('\n')
  })
  tree.save()
  return { tree, lastSession: secret.session }
}

/** Starts from the files of another tree and keeps its changes to itself: nobody merged the fork's work. */
class ForkedTree extends WorkTree {
  private readonly original: WorkTree
  private readonly mine = new Map<string, string>()
  private readonly base: ReadonlyMap<string, string>

  constructor(original: WorkTree) {
    super(original.root)
    this.original = original
    this.base = original.snapshot()
  }

  override read(path: string): string | null {
    return this.mine.get(path) ?? this.base.get(path) ?? null
  }

  override write(path: string, content: string): void {
    this.mine.set(path, content)
  }

  override save(): void {}

  override status(): string {
    return this.original.status()
  }
}
