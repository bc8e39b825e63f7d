/** The history of keys that may sign each log; it changes only while no server runs. */
import type { SignerRow } from '../../storage/db/schema/schema.ts'
import { type Logs, logOf } from '../log/logs.ts'

export type Signers = {
  /** The signers of all logs, oldest first. */
  all: readonly SignerRow[]
  /** The signer of the current log. */
  current: SignerRow
  /** The signers of a log by their ranges. */
  of(issuer: string): readonly SignerRow[]
  /** Public note keys by the address of their signer; unknown for one that never served. */
  noteKeys: ReadonlyMap<string, Uint8Array>
  /** Whether the key that signed this checkpoint was revoked later, so another signed it again. */
  wasSignedAgain(issuer: string, size: number): boolean
  /** Whether the current key may sign a receipt. */
  covers(run: { issuer: string; logPlace: number }): boolean
}

/** @throws Error if no key may sign the current log. */
export function historyOf(
  rows: readonly SignerRow[],
  logs: Logs,
  noteKeys: Signers['noteKeys'] = new Map(),
): Signers {
  const byIssuer = Map.groupBy(rows, ({ issuer }) => issuer)
  for (const own of byIssuer.values()) own.sort((a, b) => a.fromIndex - b.fromIndex)
  const all = logs.all.flatMap(({ origin }) => byIssuer.get(origin) ?? [])
  const { origin, start } = logs.current
  const current = byIssuer.get(origin)?.findLast(({ untilIndex }) => untilIndex === null)
  if (!current) throw new Error(`no key may sign the log of ${origin}`)
  return {
    all,
    current,
    noteKeys,
    of: (issuer) => byIssuer.get(issuer) ?? [],
    wasSignedAgain: (issuer, size) =>
      (byIssuer.get(issuer) ?? []).some((row) => {
        const leaf = leafIndexOf(row, logs)
        return leaf !== null && row.fromIndex < size && size <= leaf
      }),
    covers: ({ issuer, logPlace }) => issuer === origin && logPlace >= start + current.fromIndex,
  }
}

/**
 * The index of the leaf that named a signer; null for the first signer of a log. The leaf of a
 * rotation is the last before the new range; the leaf of a revocation lies within it.
 */
export const leafIndexOf = (row: SignerRow, logs: Logs): number | null =>
  row.logPlace === null ? null : row.logPlace - logOf(logs, row.issuer).start
