import { RepriseError } from '../../contract/index.ts'

/** `RUN`, `RUN@SEQ` (a point) or `RUN#N` (a stretch). */
export interface Point {
  readonly run: string
  readonly seq: number | null
  readonly stretch: number | null
}

export const parsePoint = (reference: string): Point => {
  const parts = /^([^@#]+)(?:@(\d+)|#(\d+))?$/.exec(reference)
  if (!parts?.[1])
    throw new RepriseError(
      'wrong_usage',
      `${JSON.stringify(reference)} is no reference to a run`,
      'RUN, RUN@SEQ or RUN#N',
    )
  return {
    run: parts[1],
    seq: parts[2] === undefined ? null : Number(parts[2]),
    stretch: parts[3] === undefined ? null : Number(parts[3]),
  }
}

export const looksLikeDigest = (target: string): boolean => /^(sha256:)?[0-9a-f]{6,64}$/.test(target)
