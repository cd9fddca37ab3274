import { z } from 'zod'
import { type ConfigurationHit, type Drift, driftSchema, RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { matchExpression } from '../store/index/search-query.ts'
import type { SomeHandlers } from './handlers.ts'

const rowsSchema = z.array(z.object({ doc: z.string() }))
const toDrifts = (rows: unknown): Drift[] => rowsSchema.parse(rows).map(({ doc }) => driftSchema.parse(JSON.parse(doc)))

export const createDriftHandlers = (parts: Parts) =>
  ({
    'drift.get': ({ id }) => {
      const found = toDrifts(parts.index().sql(`select doc from drifts where id like ? || '%' limit 2`).all(id))
      if (found.length === 0) throw new RepriseError('not_found', `there is no change of configuration ${id}`)
      if (found.length > 1)
        throw new RepriseError('ambiguous', `several changes begin with ${id}`, 'give more of the id')
      return found[0] as Drift
    },

    'drift.list': ({ home, path, after = 0, limit = 200 }) => {
      const index = parts.index()
      const where = `(? = '' or home = ? or exists (select 1 from homes where homes.id = drifts.home and homes.path = ?))
        and (? = '' or exists (select 1 from drift_words where drift_words.drift = drifts.id and drift_words.path = ?))`
      const values = [home ?? '', home ?? '', home ?? '', path ?? '', path ?? '']
      const { n } = index.sql(`select count(*) as n from drifts where ${where}`).get(...values) as { n: number }
      const rows = index
        .sql(`select doc from drifts where ${where} order by at desc, id desc limit ? offset ?`)
        .all(...values, limit, after)
      return { changes: toDrifts(rows), total: Number(n) }
    },

    'drift.look': async ({ home }) => {
      const refs = parts.homes.refs().filter((ref) => home === undefined || ref.path === home)
      if (home !== undefined && refs.length === 0)
        throw new RepriseError('not_found', `${home} is no home that is watched`, '`reprise status` lists them')
      return { changes: await parts.worker.call('look', refs) }
    },

    'search.configuration': ({ text, runtime, limit = 50 }) => {
      const index = parts.index()
      const expression = matchExpression(text)
      const narrow = runtime === undefined ? '' : 'and drifts.runtime = ?'
      const values = runtime === undefined ? [] : [runtime]
      const rows = index
        .sql(
          `select drifts.id as drift, drifts.after as manifest, drifts.home as home, drifts.runtime as runtime, drifts.at as at,
             drift_words.path as path, drift_words.what as what, snippet(drifts_found, 0, '\ue000', '\ue001', '…', 24) as snippet
           from drifts_found join drift_words on drift_words.id = drifts_found.rowid
           join (select id, home, runtime, at, json_extract(doc, '$.after') as after from drifts) as drifts on drifts.id = drift_words.drift
           where drifts_found match ? ${narrow} order by drifts.at desc, drifts_found.rank limit ?`,
        )
        .all(expression, ...values, limit) as ConfigurationHit[]
      const { n } = index
        .sql(
          `select count(*) as n from drifts_found join drift_words on drift_words.id = drifts_found.rowid
           join drifts on drifts.id = drift_words.drift where drifts_found match ? ${narrow}`,
        )
        .get(expression, ...values) as { n: number }
      return { hits: rows.map((row) => ({ ...row })), total: Number(n) }
    },
  }) satisfies SomeHandlers
