/** Rules about what may stand in a tracked file, whatever its language. */
import { execFileSync } from 'node:child_process'
import { lstatSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { root } from './paths.mjs'

/** Files git knows or would add, relative to the root. */
export function listFiles() {
  const text = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  return text
    .split('\0')
    .filter((path) => path !== '' && lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile())
}

/** Package registries, by their names in addresses: the lock file and the scripts work with whatever registry the user has set. */
const registryHost =
  /https?:\/\/[a-z0-9.-]*\b(?:registry\.(?!example\b)[a-z0-9.-]+|(?:npmjs|yarnpkg|pypi|crates|debian|rubygems|maven)\.(?:org|com|io))\b/i
/** Folders of this machine. Short ones (`/`, `/root`) would be found everywhere. */
const here = [...new Set([root, homedir()])].filter((folder) => folder.length > 5)
/** Somebody's home by name; the names that stand for anybody are fine, and so are recorded sessions. */
const namedHome =
  /(?<![\w.~-])\/(?:home|Users)\/(?!dev\b|you\b|me\b|user\b|someone\b|u\b|node\b|runner\b|ada\b|sample\b|x\b|<)[a-z][\w.-]+\//

export function checkContents(path) {
  const bytes = readFileSync(join(root, path))
  if (bytes.subarray(0, 8000).includes(0)) return []
  const isFixture = path.startsWith('test/fixtures/')
  const problems = []
  bytes
    .toString('utf8')
    .split('\n')
    .forEach((line, index) => {
      const say = (what) => problems.push(`${path}:${index + 1} ${what}`)
      if (registryHost.test(line) && !isFixture)
        say('names the host of a package registry (README.md, "Working on it")')
      const folder = here.find((each) => line.includes(`${each}/`))
      if (folder) say('names a folder of this machine (README.md, "Working on it")')
      else if (!isFixture && namedHome.test(line)) say('names somebody\'s home (README.md, "Working on it")')
    })
  return problems
}
