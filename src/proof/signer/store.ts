/** Stores who may sign each log, and checks the signer key against it. */
import { asc } from 'drizzle-orm'
import type { Millis } from '../../kernel/clock.ts'
import { fromHex, toHex } from '../../kernel/hex.ts'
import type { Db } from '../../storage/db/engine/db.ts'
import type { SignerRow } from '../../storage/db/schema/schema.ts'
import { ensureFactIn, findFact, readFact, writeFact } from '../../storage/db/sql/facts.ts'
import { type Query, rows, type Work } from '../../storage/db/sql/query-steps.ts'
import { type Logs, logsOf } from '../log/logs.ts'
import { logNoteSigner } from './ed25519.ts'
import type { Signer } from './signer.ts'
import { historyOf, type Signers } from './signers.ts'

const signerFact = 'signer.address'
/** The address of the key that `signer copy` copied. */
const copiedFact = 'signer.copied'

/**
 * Returns the signers of all logs. The first start stores its key; after that, a node with another
 * key would issue receipts that verify nowhere.
 * @throws Error naming both addresses.
 */
export function* ensureSigners(
  db: Db,
  q: Query,
  { logs, signer, now }: { logs: Logs; signer: Signer; now: Millis },
): Work<Signers> {
  const { signers } = db.tables
  const issuer = logs.current.origin
  let found = yield* rows(q.select().from(signers))
  if (!found.some((row) => row.issuer === issuer)) {
    assertSame(yield* ensureFactIn(db, q, signerFact, signer.address), signer)
    const row = firstSignerOf(issuer, signer, now)
    yield* rows(q.insert(signers).values(row).onConflictDoNothing().returning())
    found = yield* rows(q.select().from(signers))
  }
  const noted = toHex(logNoteSigner(signer).publicKey)
  yield* ensureFactIn(db, q, noteKeyFact(signer.address), noted)
  const history = historyOf(found, logs, yield* readNoteKeys(db, q, found))
  assertSame(history.current.address, signer)
  return history
}

/** The fact that holds the public note key of a signer, which follows from its secret alone. */
const noteKeyFact = (address: string): string => `signer.note_key/${address}`

function* readNoteKeys(db: Db, q: Query, known: SignerRow[]): Work<Map<string, Uint8Array>> {
  const keys = new Map<string, Uint8Array>()
  for (const { address } of known) {
    const key = yield* readFact(db, q, noteKeyFact(address))
    if (key !== undefined) keys.set(address, fromHex(key))
  }
  return keys
}

/** The stored logs and signers; undefined before the first start. */
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

/** The address that signs the newest log; undefined before the first start. */
export const findKnownSigner = async (db: Db): Promise<string | undefined> =>
  (await findHistory(db))?.signers.current.address ?? (await findFact(db, signerFact))

/** The address of the key that `signer copy` copied last. */
export const findCopied = (db: Db): Promise<string | undefined> => findFact(db, copiedFact)

export const noteCopied = (db: Db, address: string): Promise<void> =>
  db.write(() => writeFact(db, copiedFact, address))

/** The row of a log's first signer, which no statement names. */
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
    `the receipts in this database were signed by ${known}, but the signer key here belongs to ` +
      `${signer.address}; put the right signer.key into the data folder, or name it in [signer]`,
  )
}
