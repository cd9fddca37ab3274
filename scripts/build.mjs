/** `npm run build`, and a part of `npm ci`: builds when the sources changed since the last build. */
import { buildSources, requireNode } from './lib/prepare.mjs'
import { good } from './lib/say.mjs'

requireNode()
// The scripts that install packages build afterwards themselves.
if (!process.env.REPRISE_NO_BUILD) good(buildSources() ? 'built' : 'the build is up to date')
