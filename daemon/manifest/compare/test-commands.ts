/**
 * Whether a command line looks like a test run. By the words people use for it in whatever ecosystem, not by a list of programs: a word for
 * testing as a command, a sub-command, a script or a target.
 */
export const looksLikeTest = (line: string): boolean =>
  commandsOf(line).some((words) => {
    const [program = '', ...rest] = words
    const name = program.replace(/^.*[\\/]/, '').replace(/\.(exe|cmd|sh|py|js|mjs|ts)$/i, '')
    if (READS.has(name)) return false
    if (TESTS.test(name)) return true
    if (rest.some((word) => BRINGS_IN.test(word))) return false
    // `npm test`, `cargo test`, `mix test`, `make check`, `./gradlew :app:connectedCheck`, `python -m pytest`, `node --test`
    const told = rest.filter((word) => !word.startsWith('-') || /^--?tests?$/.test(word))
    return told
      .slice(0, 4)
      .some(
        (word) => SUBCOMMAND.test(word.replace(/^-+/, '')) && !/[\\/.](json|ya?ml|toml|md|lock|txt|log)$/.test(word),
      )
  })

/** A word for testing, alone or as part of a name: `pytest`, `jest-cli`, `run_tests`, `phpunit`, `ctest`. */
const TESTS =
  /(^|[-_.:])(tests?|specs?|e2e)([-_.:]|$)|^(\w*test(s|er|cafe)?|\w*unit|\w*spec|jest|vitest|mocha|ava|tap|karma|cypress|playwright|tox|nox|behave|cucumber|bats|busted|kaocha)$/i
/** A sub-command, script or target. */
const SUBCOMMAND =
  /^:?([\w.-]+:)*\w*(test|tests|check|spec|specs|verify|e2e|unittest|unit|pytest|vitest|jest|mocha|rspec)\w*(:[\w.-]+)*$/i
/** A runner of tests that is only being installed. */
const BRINGS_IN = /^(install|i|ci|add|remove|uninstall|rm|update|upgrade|get)$/
/** Programs that look at tests without running them. */
const READS = new Set([
  'cat',
  'ls',
  'less',
  'head',
  'tail',
  'grep',
  'rg',
  'find',
  'sed',
  'awk',
  'vim',
  'nano',
  'code',
  'git',
  'cp',
  'mv',
  'rm',
  'mkdir',
  'touch',
  'echo',
  'cd',
  'test',
  'diff',
  'wc',
  'stat',
  'chmod',
  'curl',
  'wget',
  'tree',
  'fd',
  'bat',
  'which',
  'type',
])

/** The simple commands of a line, without what stands before the program: variables, `sudo`, `time`, `env`. */
const commandsOf = (line: string): readonly (readonly string[])[] =>
  line
    .split(/\s*(?:&&|\|\||[;|\n])\s*/)
    .map((part) =>
      part
        .trim()
        .split(/\s+/)
        .filter((word) => word !== ''),
    )
    .map((words) => {
      let at = 0
      while (
        at < words.length &&
        /^(\w+=.*|sudo|time|env|exec|command|nice|timeout|\d+[smh]?|xvfb-run|\(|-\S*)$/.test(words[at] ?? '')
      )
        at += 1
      return words.slice(at)
    })
    .filter((words) => words.length > 0)
