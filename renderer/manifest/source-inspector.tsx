import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { ManifestSetting, ManifestSource } from '../../contract/manifest.ts'
import { Digest } from '../parts/digest.tsx'
import { Fact, Facts, PaneHeading } from '../parts/facts.tsx'
import { escapeControls, formatNumber } from '../parts/format.ts'
import { Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { words } from '../words/en.ts'
import { SettingValue } from './setting-value.tsx'
import { isContext, sourceName } from './source-tree.ts'
import { Loaded, Scan, Used } from './sources-tab.tsx'

const w = words.manifest
const f = w.facts

/** Whether a source only tells the model something or is enforced by the program; the two are never mixed. */
export function Force({ context }: { readonly context: boolean }) {
  return (
    <p className="mx-3 mt-2 rounded-control bg-canvas px-2 py-1.5 text-dense text-text-2">
      <span className="font-medium text-text">{context ? w.context : w.enforced}.</span>{' '}
      {context ? w.contextMeans : w.enforcedMeans}
    </p>
  )
}

const orNone = (value: string | null): ReactNode => value ?? <span className="text-text-3">{f.none}</span>

export function SourceInspector({ source, digest }: { readonly source: ManifestSource; readonly digest: string }) {
  return (
    <div className="pb-4">
      <h3 className="px-3 pt-3 text-ui font-semibold break-words">{escapeControls(sourceName(source))}</h3>
      <Force context={isContext(source.kind)} />
      {source.path !== null && <OnlyThis digest={digest} path={source.path} />}
      {source.kind === 'memory' && <p className="px-3 pt-1 text-dense text-text-2">{w.localMemory}</p>}
      <Facts>
        <Fact name={f.status}>
          <Loaded source={source} />
        </Fact>
        <Fact name={f.position}>{source.position === null ? w.notPositioned : formatNumber(source.position + 1)}</Fact>
        <Fact name={f.kind}>{w.kinds[source.kind]}</Fact>
        <Fact name={f.scope}>{source.scope}</Fact>
        <Fact name={f.label}>{orNone(source.label)}</Fact>
        <Fact name={f.rule}>{source.rule ?? <Unknown />}</Fact>
        {source.trigger !== null && <Fact name={f.trigger}>{source.trigger}</Fact>}
        {source.imported_by.length > 0 && (
          <Fact name={f.imported}>
            {source.imported_by.map((path) => (
              <PathText key={path} path={path} className="w-full" />
            ))}
          </Fact>
        )}
        <Fact name={f.bytes}>{source.bytes === null ? orNone(null) : formatNumber(source.bytes)}</Fact>
        <Fact name={f.truncated}>
          {source.truncated === null ? (
            w.notCut
          ) : (
            <span className="text-warn">{w.cutAt(formatNumber(source.truncated.at), source.truncated.unit)}</span>
          )}
        </Fact>
        <Fact name={f.scan}>
          <Scan scan={source.scan} />
          {source.scan !== null && source.scan.rules.length > 0 && (
            <span className="block text-text-2">{source.scan.rules.join(', ')}</span>
          )}
        </Fact>
        <Fact name={f.used}>
          <Used used={source.used} />
        </Fact>
        <Fact name={f.digest}>{source.digest === null ? orNone(null) : <Digest digest={source.digest} />}</Fact>
        <Fact name={f.textDigest}>
          {source.text_digest === null ? orNone(null) : <Digest digest={source.text_digest} />}
        </Fact>
        <Fact name={f.classification}>{w.classification[source.classification]}</Fact>
        <Fact name={f.uri}>
          <span className="font-mono text-[0.75rem] break-all text-text-2">{escapeControls(source.uri)}</span>
        </Fact>
      </Facts>
    </div>
  )
}

/** The plan that brings only this file, or only this key, back to how it was here. */
function OnlyThis({ digest, path, part }: { readonly digest: string; readonly path: string; readonly part?: string }) {
  return (
    <p className="px-3 pt-2 text-dense">
      <Link
        href={rollbackPath({ target: digest, only: [part === undefined ? { path } : { path, key: part }] })}
        className="rounded-chip text-accent hover:underline"
      >
        {words.rollback.onlyThisHere}
      </Link>
    </p>
  )
}

/** Winner and losers of one setting. */
export function ValueInspector({
  name,
  setting,
  digest,
}: {
  readonly name: string
  readonly setting: ManifestSetting
  readonly digest: string
}) {
  return (
    <div className="pb-4">
      <h3 className="px-3 pt-3 font-mono text-dense font-semibold break-all">{name}</h3>
      <Force context={false} />
      {/^(?:\/|[A-Za-z]:[\\/])/.test(setting.source) && <OnlyThis digest={digest} path={setting.source} part={name} />}
      <Facts>
        <Fact name={w.values.value}>
          <span className="break-all">
            <SettingValue of={setting} />
          </span>
        </Fact>
        <Fact name={w.values.rule}>
          {setting.rule === 'unknown' ? <Unknown>{w.rules.unknown}</Unknown> : w.rules[setting.rule]}
        </Fact>
        <Fact name={w.values.winner}>
          <PathText path={setting.source} className="w-full" />
        </Fact>
        {setting.merged_from.length > 1 && (
          <Fact name={w.values.merged}>
            {setting.merged_from.map((path) => (
              <PathText key={path} path={path} className="w-full" />
            ))}
          </Fact>
        )}
      </Facts>
      <PaneHeading>{w.values.losers}</PaneHeading>
      {setting.overridden.length === 0 ? (
        <p className="px-3 text-dense text-text-2">{w.values.none}</p>
      ) : (
        <ul className="px-3 text-dense">
          {setting.overridden.map((loser) => (
            <li key={loser.source} className="border-t border-line py-1 first:border-0">
              <span className="block break-all text-text-2 line-through decoration-line-strong">
                <SettingValue of={loser} />
              </span>
              <PathText path={loser.source} className="w-full text-text-3" />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
