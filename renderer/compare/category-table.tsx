import type { CategoryResult } from '../../contract/compare.ts'
import { Digest } from '../parts/digest.tsx'
import { TableHead } from '../parts/tables.tsx'
import { words } from '../words/en.ts'

const w = words.compare

/** Every category with the digests that prove it equal, how it was compared, and what could not be known. */
export function CategoryTable({
  categories,
  open,
}: {
  readonly categories: readonly CategoryResult[]
  readonly open: boolean
}) {
  const equal = categories.filter(({ state }) => state === 'equal').length
  const notKnown = categories.flatMap(({ category, not_known }) => not_known.map((entry) => ({ category, ...entry })))
  return (
    <>
      <details open={open} className="px-3 pt-3">
        <summary className="cursor-pointer rounded-chip text-dense font-medium">
          {w.equalOf(equal, categories.length)}
        </summary>
        <div className="mt-1 overflow-x-auto">
          <table className="w-full text-dense">
            <TableHead columns={[w.category, w.result, 'A', 'B', w.how]} />
            <tbody>
              {categories.map(({ category, state, a, b, how }) => (
                <tr key={category} className="border-b border-line align-top">
                  <th scope="row" className="py-1 pr-3 text-left font-normal">
                    {w.categories[category]}
                  </th>
                  <td className={`py-1 pr-3 ${state === 'equal' ? '' : 'text-warn'}`}>{w.states[state]}</td>
                  <td className="py-1 pr-3">{a === null ? '' : <Digest digest={a} />}</td>
                  <td className="py-1 pr-3">{b === null ? '' : <Digest digest={b} />}</td>
                  <td className="py-1 text-text-2">{how}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
      {notKnown.length > 0 && (
        <details open={open} className="px-3 pt-3 pb-4">
          <summary className="cursor-pointer rounded-chip text-dense font-medium">
            {w.notCompared(notKnown.length)}
          </summary>
          <table className="mt-1 w-full text-dense">
            <TableHead columns={[w.field, w.side, w.whyNot]} />
            <tbody>
              {notKnown.map(({ category, field, side, why }) => (
                <tr key={`${category}\0${field}\0${side}\0${why}`} className="border-b border-line align-top">
                  <th scope="row" className="py-1 pr-3 text-left font-mono text-[0.75rem] font-normal break-all">
                    {field}
                  </th>
                  <td className="py-1 pr-3">{w.sides[side]}</td>
                  <td className="py-1 text-text-2">{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  )
}
