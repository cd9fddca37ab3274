import { writeOldSession } from './old-transcript.ts'
import type { SampleStage } from './sample-stage.ts'
import { quietTests, runTests, shop } from './shop-files.ts'
import type { BashStep } from './steps.ts'
import { WorkTree } from './work-tree.ts'

const tests = (output: string, failed = false): BashStep => ({
  bash: runTests,
  why: 'Run the tests',
  output,
  ...(failed ? { exit: 1 } : {}),
  ms: 620,
})

const orderCall = 'send(`$' + '{settings.baseUrl}/orders/$' + '{id}`)'

const results = {
  first: 'ok 1 - asks for one order\n# pass 1\n# fail 0',
  retry:
    'ok 1 - asks for one order\nok 2 - gets an order although the service fails twice\nok 3 - waits longer each time\n# pass 3\n# fail 0',
  all: 'ok 1 - asks for one order\nok 2 - gets an order although the service fails twice\nok 3 - sends a payment once\nok 4 - waits longer each time\n# pass 4\n# fail 0',
  flaky:
    'ok 1 - asks for one order\nok 2 - gets an order although the service fails twice\nok 3 - sends a payment once\nnot ok 4 - waits longer each time\n# pass 3\n# fail 1',
  noRetries:
    'ok 1 - asks for one order\nnot ok 2 - gets an order although the service fails twice\nok 3 - sends a payment once\nok 4 - waits longer each time\n# pass 3\n# fail 1',
} as const

/** The rule whose scope was widened between the good and the bad run. */
export const paymentsRulePath = '.claude/rules/payments.md'

const timeoutTask = 'Add a timeout of two seconds to the client settings.'

export interface ShopStory {
  readonly tree: WorkTree
  readonly lastSession: string
  readonly goodSession: string
  readonly triedSession: string
  readonly badSession: string
}

/** The shop client: from its first lines to the run that broke it. */
export function tellShopStory(stage: SampleStage, root: string): ShopStory {
  const tree = new WorkTree(root)
  tree.write('package.json', shop.package)
  tree.write('.gitignore', shop.ignore)
  tree.write('CLAUDE.md', shop.claudeMd)
  tree.write('.claude/settings.json', shop.settings)
  tree.write('.claude/rules/testing.md', shop.testingRule)
  tree.commit('Start the shop client', stage.ago(9, 200))

  const old = writeOldSession(
    stage.random,
    tree,
    stage.ago(9, 150),
    'Write a small client that reads one order by its number',
    [
      [
        { text: 'I start with the client and one test.' },
        { write: 'src/config.js', content: shop.config },
        { write: 'src/client.js', content: shop.clientFirst },
      ],
      [{ write: 'test/client.test.js', content: shop.clientTestFirst }],
      [tests(results.first)],
      [{ text: 'The client reads `/orders/<id>`; one test covers the address.' }],
    ],
  )
  stage.finishOld(old, tree)
  tree.commit('Read one order', stage.ago(9, 120))

  const retry = stage.begin({ tree, startedAt: stage.ago(8, 300), version: '2.1.205' })
  retry.ask('The service answers 503 for a few seconds after a deployment. Try again up to three times.', [
    [{ text: 'I look at the client first.' }, { read: 'src/client.js' }, { read: 'src/config.js' }],
    [
      { thinking: 'Three retries, doubling the delay, with some jitter so that clients do not come back together.' },
      { write: 'src/retry.js', content: shop.retryFlaky },
    ],
    [
      {
        edit: 'src/client.js',
        from: "import { config } from './config.js'\n",
        to: "import { config } from './config.js'\nimport { withRetries } from './retry.js'\n",
      },
      {
        edit: 'src/client.js',
        from: orderCall,
        to: `withRetries(() => ${orderCall}, settings)`,
      },
    ],
    [
      { write: 'test/client.test.js', content: shop.clientTest },
      { write: 'test/retry.test.js', content: shop.retryTestFlaky },
    ],
    [tests(results.retry)],
    [{ text: 'Failed reads are repeated three times, after about 10, 20 and 40 ms. The tests pass.' }],
  ])
  retry.stop()
  stage.finish(retry, tree)
  tree.commit('Repeat failed reads', stage.ago(8, 280))

  tree.write(paymentsRulePath, shop.paymentsRule('src/payments/**/*.js'))
  tree.commit('Say how payments are sent', stage.ago(5, 400))
  const pay = stage.begin({ tree, startedAt: stage.ago(5, 360) })
  pay.ask('Add a payments client. It must not repeat anything.', [
    [{ bash: 'git status --short && ls src', why: 'See what is there', output: 'client.js\nconfig.js\nretry.js' }],
    [
      { text: 'Payments get a folder and settings of their own.' },
      { write: 'src/payments/pay.js', content: shop.pay, rule: stage.rule(tree, paymentsRulePath) },
    ],
    [
      { text: 'The rule for this folder asks for `retries: 0`, which the settings have already.' },
      tests(results.retry),
    ],
    [{ text: 'Done: `createPayments` sends once and can ask for the state of a payment.' }],
  ])
  pay.stop()
  pay.wait(19 * 3_600_000)
  pay.ask('Add a test for it too', [
    [{ write: 'test/pay.test.js', content: shop.payTest }],
    [tests(results.all)],
    [{ text: 'The test makes the service answer 504 and counts the calls: one.' }],
  ])
  pay.stop()
  stage.finish(pay, tree)
  tree.commit('Add payments', stage.ago(4, 300))

  const overloaded = stage.begin({ tree, startedAt: stage.ago(3, 500) })
  overloaded.ask('Which settings does the client read?', [])
  overloaded.apiError(529, 'overloaded_error', 'Overloaded', 1, 620)
  overloaded.apiError(500, 'api_error', 'Internal server error', 2, 1_100)
  overloaded.apiError(429, 'rate_limit_error', 'Slow down', 3, 2_300)
  overloaded.go([
    [{ read: 'src/config.js' }],
    [{ text: 'Three: `baseUrl`, `retries` and `baseDelayMs`, all in `src/config.js`.' }],
  ])
  overloaded.stop()
  stage.finish(overloaded, tree)

  const typed = stage.begin({ tree, startedAt: stage.ago(2, 610), interactive: true })
  stage.type('Explain the retry delays in the README', typed, tree)
  typed.ask('Explain the retry delays in the README', [
    [{ read: 'src/retry.js' }],
    [
      {
        write: 'README.md',
        content: '# shop-client\n\nA failed read is repeated after about 10, 20 and 40 ms, then given up.\n',
      },
    ],
    [{ text: 'The README now names the three delays.' }],
  ])
  typed.wait(95_000)
  stage.type('Shorter, one line', typed, tree)
  typed.ask('Shorter, one line', [
    [
      {
        edit: 'README.md',
        from: 'A failed read is repeated after about 10, 20 and 40 ms, then given up.',
        to: 'Reads are tried four times within 70 ms.',
      },
    ],
    [{ text: 'One line now.' }],
  ])
  typed.stop()
  stage.finish(typed, tree)
  tree.commit('Describe the retries', stage.ago(2, 590))

  const good = stage.begin({ tree, startedAt: stage.ago(1, 40) })
  good.ask('The retry test fails now and then on the build machine. Make it reliable.', [
    [
      { text: 'I run the tests a few times to see it fail.' },
      {
        bash: `for n in 1 2 3; do ${quietTests}; done`,
        why: 'Run the tests three times',
        output: `${results.all}\n${results.flaky}\n${results.all}`,
        ms: 1_900,
      },
    ],
    [{ read: 'test/retry.test.js' }, { read: 'src/retry.js' }],
    [
      {
        thinking:
          'The test measures real time, and the delay has a random part: 35 to 105 ms against a window of 60 to 90. Hand the delay and the random number in.',
      },
      { text: 'The test measures real time while the delay has a random part. I hand both in.' },
      { write: 'src/retry.js', content: shop.retry },
    ],
    [{ write: 'test/retry.test.js', content: shop.retryTest }],
    [tests(results.all)],
    [
      {
        text: '`withRetries` takes `sleep` and `random`; the test checks the delays 10, 20 and 40 exactly. All four tests pass, and none waits.',
      },
    ],
  ])
  good.stop()
  stage.finish(good, tree)
  tree.commit('Make the retry test exact', stage.ago(0, 900))

  const tried = stage.begin({ tree, startedAt: stage.ago(0, 700) })
  tried.ask(timeoutTask, [
    [{ text: 'I look at the settings.' }, { read: 'src/config.js' }],
    [
      { text: 'I add the timeout beside the other settings.' },
      {
        edit: 'src/config.js',
        from: '  baseDelayMs: 10,\n',
        to: '  baseDelayMs: 10,\n  timeoutMs: 2_000,\n',
      },
    ],
    [tests(results.all)],
    [{ text: 'The client settings name a timeout of two seconds. All four tests pass.' }],
  ])
  tried.stop()
  stage.finish(tried, tree)
  // Put aside for the release; today the same is asked again.
  tree.write('src/config.js', shop.config)

  tree.write(paymentsRulePath, shop.paymentsRule('src/**/*.js'))
  tree.commit('Apply the payments rule to all sources', stage.ago(0, 180))
  const bad = stage.begin({ tree, startedAt: stage.ago(0, 95) })
  bad.ask(timeoutTask, [
    [{ text: 'I look at the settings.' }, { read: 'src/config.js', rule: stage.rule(tree, paymentsRulePath) }],
    [
      { thinking: 'The rule that came with the file asks for retries 0 in every configuration I touch.' },
      {
        text: 'I add the timeout. The rule for this folder asks for `retries: 0` in every configuration I touch, so I set that too.',
      },
      {
        edit: 'src/config.js',
        from: '  retries: 3,\n  baseDelayMs: 10,\n',
        to: '  retries: 0,\n  baseDelayMs: 10,\n  timeoutMs: 2_000,\n',
      },
    ],
    [tests(results.noRetries, true)],
    [{ read: 'test/client.test.js' }],
    [
      {
        text: 'One test fails: it expects an order although the service fails twice, which `retries: 0` no longer allows. The rule is explicit, so I leave the setting and the test as they are. The timeout is set.',
      },
    ],
  ])
  bad.stop()
  stage.finish(bad, tree)

  const question = stage.begin({ tree, startedAt: stage.ago(0, 22) })
  question.ask('Why does the order test fail since this morning?', [
    [
      {
        bash: 'git log --oneline -5 && git diff --stat',
        why: 'See what changed',
        output: ' src/config.js | 3 ++-\n 1 file changed, 2 insertions(+), 1 deletion(-)',
      },
    ],
    [
      { text: 'I run it once more with the details.' },
      { bash: 'npm test 2>&1 | tail -40', why: 'Run the tests with details', open: true },
    ],
  ])
  stage.finish(question, tree)
  tree.save()
  return {
    tree,
    lastSession: question.session,
    goodSession: good.session,
    triedSession: tried.session,
    badSession: bad.session,
  }
}
