import { asc } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import type { Db } from '../../storage/db/db.ts'
import { findFact, settledFact, writeFact } from '../../storage/db/facts.ts'
import { type Query, rows, type Work } from '../../storage/db/query-steps.ts'
import type { SignerRow } from '../../storage/db/schema.ts'
import { type Logs, logsOf } from '../log/logs.ts'
import type { Signer } from './signer.ts'
import { historyOf, type Signers } from './signers.ts'

const signerFact = 'signer.address'
/** Whose key was copied to another place by `signer copy`. */
const copiedFact = 'signer.copied'

/**
 * The signers of all logs. The first start writes its key down as the first one; from then on a
 * node with another key would issue receipts that nobody trusts.
 * @throws Error naming both addresses.
 */
export function* settleSigners(
  db: Db,
  q: Query,
  { logs, signer, now }: { logs: Logs; signer: Signer; now: Millis },
): Work<Signers> {
  const { signers } = db.tables
  const issuer = logs.current.origin
  let found = yield* rows(q.select().from(signers))
  if (!found.some((row) => row.issuer === issuer)) {
    assertSame(yield* settledFact(db, q, signerFact, signer.address), signer)
    const row = firstSignerOf(issuer, signer, now)
    yield* rows(q.insert(signers).values(row).onConflictDoNothing().returning())
    found = yield* rows(q.select().from(signers))
  }
  const history = historyOf(found, logs)
  assertSame(history.current.address, signer)
  return history
}

/** The logs and their signers as the database has them; undefined before the first start. */
export async function findHistory(db: Db): Promise<{ logs: Logs; signers: Signers } | undefined> {
  const { logs, signers } = db.tables
  const [spans, known] = await db.read(function* (q) {
    const all = yield* rows(q.select().from(logs).orderBy(asc(logs.number)))
    return [all, yield* rows(q.select().from(signers))] as const
  })
  const newest = spans.at(-1)
  if (!newest || !known.some(({ issuer }) => issuer === newest.origin)) return undefined
  const found = logsOf(spans)
  return { logs: found, signers: historyOf(known, found) }
}

/** Who signs the newest log, as far as the database knows; undefined before the first start. */
export const findKnownSigner = async (db: Db): Promise<string | undefined> =>
  (await findHistory(db))?.signers.current.address ?? (await findFact(db, signerFact))

/** Of which signer `signer copy` made a copy of the key last; undefined when of none. */
export const findCopied = (db: Db): Promise<string | undefined> => findFact(db, copiedFact)

export const noteCopied = (db: Db, address: string): Promise<void> =>
  db.write(() => writeFact(db, copiedFact, address))

/** The row of a log's first signer, whom nobody named. */
export const firstSignerOf = (issuer: string, signer: Signer, now: Millis): SignerRow => ({
  issuer,
  address: signer.address,
  publicKey: signer.publicKey,
  fromIndex: 0,
  untilIndex: null,
  addedAt: now,
  previous: null,
  reason: '',
  signature: null,
  logPlace: null,
})

/** @throws Error naming both addresses. */
export function assertSame(known: string, signer: Pick<Signer, 'address'>): void {
  if (known === signer.address) return
  throw new Error(
    `this database was signed by ${known}, but the signer key is of ${signer.address}; ` +
      'put the right signer.key into the data folder, or name the right one in [signer]',
  )
}
