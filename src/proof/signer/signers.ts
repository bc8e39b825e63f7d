import type { SignerRow } from '../../storage/db/schema.ts'
import { type Logs, logOf } from '../log/logs.ts'

/** Who may sign which part of which log. It changes only while no server runs. */
export type Signers = {
  /** Of all logs, in the order in which they came. */
  all: readonly SignerRow[]
  /** Who signs now. */
  current: SignerRow
  of(issuer: string): readonly SignerRow[]
  /** Whether a checkpoint was signed by a key that was revoked for it later on. */
  wasSignedAgain(issuer: string, size: number): boolean
  /** Whether the key that signs now may sign a receipt. */
  covers(run: { issuer: string; logPlace: number }): boolean
}

/** @throws when the current log has nobody who may sign it. */
export function historyOf(rows: readonly SignerRow[], logs: Logs): Signers {
  const byIssuer = Map.groupBy(rows, ({ issuer }) => issuer)
  for (const own of byIssuer.values()) own.sort((a, b) => a.fromIndex - b.fromIndex)
  const all = logs.all.flatMap(({ origin }) => byIssuer.get(origin) ?? [])
  const { origin, start } = logs.current
  const current = byIssuer.get(origin)?.findLast(({ untilIndex }) => untilIndex === null)
  if (!current) throw new Error(`nobody may sign the log of ${origin}`)
  return {
    all,
    current,
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
 * The index of the leaf that named a signer; null for the first of a log. That of a planned
 * rotation is the last one before its range, that of a revocation lies in it.
 */
export const leafIndexOf = (row: SignerRow, logs: Logs): number | null =>
  row.logPlace === null ? null : row.logPlace - logOf(logs, row.issuer).start
