import { verify } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asDigest, type ManifestSource } from '../../../contract/index.ts'
import { canonicalBytes, digestOfBytes, digestOfJson } from '../../../daemon/manifest/canonical.ts'
import { signManifest, verifyManifest } from '../../../daemon/manifest/sign.ts'
import { findCycles, validateForFreeze } from '../../../daemon/manifest/validate.ts'
import { createRedactor } from '../../../daemon/secrets/create-redactor.ts'
import { type Keys, openKeys } from '../../../daemon/secrets/keys.ts'
import { manifestBody, temporaryDirectory } from '../../kit/store.ts'

const redactor = createRedactor(Buffer.alloc(32, 1))
const dir = temporaryDirectory()
let keys: Keys
beforeAll(async () => {
  keys = await openKeys(dir.path)
})
afterAll(() => dir.remove())

const source = (uri: string, more: Partial<ManifestSource> = {}): ManifestSource => ({
  uri,
  path: null,
  scope: 'project',
  kind: 'instructions',
  label: null,
  position: null,
  status: 'loaded',
  reason: null,
  rule: null,
  digest: null,
  text_digest: null,
  bytes: 10,
  imported_by: [],
  trigger: null,
  truncated: null,
  scan: null,
  used: null,
  classification: 'private',
  ...more,
})

describe('the canonical form', () => {
  it('is that of RFC 8785', () => {
    const value = {
      '\u20ac': 'Euro',
      '\r': 'CR',
      '\ufb33': 1,
      '1': 'One',
      '\u0080': 'C',
      '\u{1f600}': 'Smile',
      '\u00f6': 'o',
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, -0],
      literals: [null, true, false],
    }
    expect(canonicalBytes(value).toString()).toBe(
      '{"\\r":"CR","1":"One","literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"\u0080":"C","\u00f6":"o","\u20ac":"Euro","\u{1f600}":"Smile","\ufb33":1}',
    )
  })

  it('does not depend on the order of keys, and reads back as the same value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse())
        expect(canonicalBytes(turned).equals(canonicalBytes(value))).toBe(true)
        expect(digestOfJson(JSON.parse(canonicalBytes(value).toString()))).toBe(digestOfJson(value))
      }),
    )
  })

  it('refuses what JSON cannot say', () => {
    for (const value of [Number.NaN, Infinity, undefined, () => 1, 'half \ud83d pair', { a: ['\udc00'] }])
      expect(() => canonicalBytes(value)).toThrow()
    expect(canonicalBytes('\\ud83d').toString()).toBe('"\\\\ud83d"')
  })
})

describe('a signed manifest', () => {
  it('carries the digest of its body and a signature others can verify', () => {
    const body = manifestBody()
    const { manifest, digest, bytes } = signManifest(body, keys)
    expect(digest).toBe(digestOfBytes(canonicalBytes(body)))
    expect(manifest.integrity).toMatchObject({ manifest_digest: digest, key_id: keys.keyId })
    expect(
      verify(null, canonicalBytes(body), keys.publicKey, Buffer.from(manifest.integrity.signature, 'base64')),
    ).toBe(true)
    expect(verifyManifest(bytes, digest, keys.publicKeyOf)).toEqual(manifest)
    expect(() => verifyManifest(bytes, asDigest(`sha256:${'0'.repeat(64)}`), keys.publicKeyOf)).toThrow(digest)
  })
})

describe('validation before freezing', () => {
  it('finds nothing in a good body', () => {
    expect(
      validateForFreeze(
        manifestBody({
          instructions: {
            effective_digest: null,
            resolved_order: [source('file:///a').scope],
            sources: [source('file:///a')],
          },
        }),
        redactor,
      ),
    ).toEqual([])
  })

  it('names every failing check', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const body = manifestBody({
      settings: {
        'env.DB_PASSWORD': { value: 'hunter2-Again', source: 's', merged_from: [], overridden: [], rule: 'replace' },
      },
      instructions: {
        effective_digest: null,
        resolved_order: ['file:///gone'],
        sources: [
          source('file:///a', { imported_by: ['file:///c'] }),
          source('file:///b', { imported_by: ['file:///a'], reason: `see ${secret}` }),
          source('file:///c', { imported_by: ['file:///b'] }),
          source('file:///c', { bytes: 1e9 }),
        ],
      },
    })
    const failed = validateForFreeze(body, redactor)
    expect(failed.map(({ check }) => check).sort()).toEqual([
      'circular_import',
      'duplicate_source',
      'order',
      'secret',
      'secret',
      'size',
    ])
    expect(JSON.stringify(failed)).not.toContain(secret)
    expect(JSON.stringify(failed)).not.toContain('hunter2')
    expect(failed.filter(({ check }) => check === 'secret').map(({ where }) => where)).toEqual(
      expect.arrayContaining(['instructions.sources[1].reason', 'settings.env.DB_PASSWORD.value']),
    )
  })

  it('names the field that breaks the schema', () => {
    expect(validateForFreeze({ ...manifestBody(), stretch: 'one' }, redactor)).toEqual([
      expect.objectContaining({ check: 'schema', where: 'stretch' }),
    ])
    expect(validateForFreeze(null, redactor)[0]?.check).toBe('schema')
    expect(validateForFreeze(manifestBody(), redactor, { bodyBytes: 10, sources: 1, sourceBytes: 1 })[0]?.check).toBe(
      'size',
    )
  })

  it('gives each circle once, in the direction of the import', () => {
    expect(
      findCycles(
        new Map([
          ['a', ['b']],
          ['b', []],
        ]),
      ),
    ).toEqual([])
    expect(findCycles(new Map([['a', ['a']]]))).toEqual([['a', 'a']])
    const [circle = []] = findCycles(
      new Map([
        ['a', ['c']],
        ['b', ['a']],
        ['c', ['b']],
        ['d', ['a']],
      ]),
    )
    expect([...circle].sort()).toEqual(expect.arrayContaining(['a', 'b', 'c']))
    expect(circle.join(' ')).toMatch(/a b.*|b c.*|c a.*/)
    const chain = new Map(Array.from({ length: 20_000 }, (_, n) => [`n${n}`, n === 0 ? [] : [`n${n - 1}`]]))
    expect(findCycles(chain)).toEqual([])
  })
})
