import { eq } from 'drizzle-orm'
import { type Db, rows } from '../db/db.ts'
import { findFact, settleFact } from '../db/facts.ts'
import type { SignerRow } from '../db/schema.ts'
import type { Millis } from '../kernel/clock.ts'
import type { Logs } from '../log/logs.ts'
import { historyOf, type Signers } from './history.ts'
import type { Signer } from './signer.ts'

const signerFact = 'signer.address'

/**
 * The signers of all logs. The first start writes its key down as the first one; from then on a
 * node with another key would issue receipts that nobody trusts.
 * @throws Error naming both addresses.
 */
export async function settleSigners(
  db: Db,
  logs: Logs,
  signer: Signer,
  now: Millis,
): Promise<Signers> {
  const { signers } = db.tables
  const issuer = logs.current.origin
  let found = await db.read((q) => rows(q.select().from(signers)))
  if (!found.some((row) => row.issuer === issuer)) {
    assertSame(await settleFact(db, signerFact, signer.address), signer)
    const row = firstSignerOf(issuer, signer, now)
    found = await db.write(function* (q) {
      yield* rows(q.insert(signers).values(row).onConflictDoNothing().returning())
      return yield* rows(q.select().from(signers))
    })
  }
  const history = historyOf(found, logs)
  assertSame(history.current.address, signer)
  return history
}

/** Who signs the newest log, as far as the database knows; undefined before the first start. */
export async function findKnownSigner(db: Db): Promise<string | undefined> {
  const { logs, signers } = db.tables
  const current = await db.read(function* (q) {
    const all = yield* rows(q.select().from(logs))
    const newest = all.toSorted((a, b) => a.number - b.number).at(-1)
    if (!newest) return undefined
    const own = yield* rows(q.select().from(signers).where(eq(signers.issuer, newest.origin)))
    return own.find(({ untilIndex }) => untilIndex === null)
  })
  return current?.address ?? (await findFact(db, signerFact))
}

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

function assertSame(known: string, signer: Signer): void {
  if (known === signer.address) return
  throw new Error(
    `this database was signed by ${known}, but the signer key is of ${signer.address}; ` +
      'put the right signer.key into the data folder, or name the right one in [signer]',
  )
}
