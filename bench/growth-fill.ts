/** Fills an empty database with receipts of a month, as runs of many accounts leave them. */
import { hashToken, newToken } from '../src/access/accounts/session.ts'
import { issueKey } from '../src/access/keys/issue.ts'
import { keyStore } from '../src/access/keys/store.ts'
import { makePlans } from '../src/access/plan-config.ts'
import { countersOf } from '../src/app/counters.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { firstIdAt, makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { grantCredit } from '../src/ledger/grant.ts'
import { openLedger } from '../src/ledger/post.ts'
import { logStore } from '../src/proof/log/store.ts'
import { digestOf, factsOf, receiptIdOf } from '../src/proof/receipts/receipt.ts'
import { type CountedReceipt, cursorOf } from '../src/storage/counts/counter.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import type { EndedRun, KeyRow } from '../src/storage/db/schema/schema.ts'
import { writeFact } from '../src/storage/db/sql/facts.ts'
import { insert, update, upsert } from '../src/storage/db/sql/query-steps.ts'
import { endedRun } from './ended-run.ts'
import { type Charge, insertNumbered } from './stored-runs.ts'

/** Secrets and ids that the reads use later. Their account has a tenth of all receipts. */
export type Filled = { secret: string; cookie: string; receipts: string[]; digests: Uint8Array[] }

const dayMs = 86_400_000
const spanMs = 30 * dayMs
/** Receipts of one of the other accounts. */
const ofEach = 1000
/** Receipts of a COMMIT: many, because each writes a page of every account's indexes. */
const batchOf = ({ exclusive }: Pick<Db, 'exclusive'>): number => (exclusive ? 20_000 : 5000)
/** How many receipts are remembered, spread over all. */
const remembered = 500
const credit = 10_000_000_000_000n
const random = systemRandom()

/** An account with its only key, and what it spent. */
type Payer = { key: KeyRow; secret: string; left: bigint; spent: bigint; moves: number; at: number }

/**
 * Fills it in the order of the log, and gives each receipt its place, its signature and its part of
 * all sums in the transaction that writes it: nothing that was written is read again.
 */
export async function fill(db: Db, count: number, issuer: string): Promise<Filled> {
  const begun = systemClock.now() - spanMs - 3_600_000
  const clock = { ...systemClock, now: () => begun - dayMs }
  const payers = await openAccounts(db, Math.max(1, Math.round(count / ofEach)), clock)
  const owner = payers[0] as Payer
  const filled: Filled = { secret: owner.secret, cookie: '', receipts: [], digests: [] }
  const log = logStore(db, { clock: systemClock, node: 'bench', start: 0 })
  const counters = countersOf(db)
  const batch = batchOf(db)
  const tails = makeIds(systemClock, random)
  for (let at = 0; at < count; at += batch) {
    const charges: (Charge | undefined)[] = []
    const ended: EndedRun[] = []
    for (let index = at; index < Math.min(at + batch, count); index++) {
      const payer = index % 10 === 0 ? owner : (payers[index % payers.length] as Payer)
      const finishedAt = Math.floor(begun + (index / count) * spanMs)
      const id = firstIdAt('run', finishedAt) + tails.make('run').slice(-16)
      const run = runOf(payer, { id, issuer, finishedAt, index })
      ended.push(run)
      charges.push(chargeOf(payer, run, finishedAt))
      if (index % Math.ceil(count / remembered) === 0 && run.digest) {
        filled.receipts.push(receiptIdOf(id))
        filled.digests.push(run.digest)
      }
    }
    await log.change(function* (q, appending) {
      const { place } = yield* insertNumbered(db, appending, ended, charges)
      const receipts = ended.map((run, i) => toCounted(run, place + i))
      for (const counter of counters) {
        yield* counter.add(q, receipts)
        yield* writeFact(db, cursorOf(counter), String(place + ended.length))
      }
    })
  }
  await writeMoney(db, payers)
  return { ...filled, cookie: await openSession(db, owner.key.accountId) }
}

const toCounted = (run: EndedRun, place: number): CountedReceipt => ({
  ...run,
  place,
  wholesale: null,
})

type Clock = typeof systemClock

async function openAccounts(db: Db, count: number, clock: Clock): Promise<Payer[]> {
  const ids = makeIds(clock, random)
  const plans = makePlans([], { rpm: 1_000_000, concurrency: 1024 })
  const deps = {
    ledger: openLedger(db, clock),
    ids,
    random,
    plans,
    keys: keyStore(db, clock, plans),
  }
  const open = async (): Promise<Payer> => {
    const account = `0x${Buffer.from(random.bytes(20)).toString('hex')}`
    await grantCredit(deps, { account, amount: credit, reason: 'bench', actor: 'bench' })
    const cap = { capLimit: credit, capWindow: 'lifetime' } as const
    const wish = { account, name: 'bench', ...cap, actor: 'bench' }
    const { key, secret } = await issueKey(deps, wish)
    return { key, secret, left: credit, spent: 0n, moves: 1, at: 0 }
  }
  return Promise.all(Array.from({ length: count }, open))
}

type Named = { id: string; issuer: string; finishedAt: number; index: number }

function runOf({ key }: Payer, named: Named): EndedRun {
  const run = endedRun({ ...named, account: key.accountId, keyId: key.id })
  const own = { windows: [[key.id, 0]] as [string, number][], seed: random.bytes(32) }
  const texts = { inputCommitment: random.bytes(32), outputCommitment: random.bytes(32) }
  const ended = { ...run, ...own, ...texts, node: '' }
  return { ...ended, digest: digestOf(factsOf(ended)) }
}

/** Moves the money of a run; one that cost nothing moves none. */
function chargeOf(payer: Payer, { id, cost }: EndedRun, at: number): Charge | undefined {
  if (cost === 0n) return undefined
  payer.left -= cost
  payer.spent += cost
  payer.moves++
  payer.at = at
  return { ref: id, at, seq: payer.moves, balance: payer.left }
}

async function writeMoney(db: Db, payers: readonly Payer[]): Promise<void> {
  const { accounts, keyWindows } = db.tables
  const moved = payers.map(({ key, left: balance, moves, at: movedAt }) => {
    return { id: key.accountId, balance, moves, movedAt }
  })
  const windows = payers.map(({ key, spent }) => {
    return { keyId: key.id, windowStart: 0, limit: credit, spent, held: 0n, told: null }
  })
  await db.write(function* () {
    yield* update(accounts, moved as never, ['balance', 'moves', 'movedAt'])
    yield* upsert(keyWindows, windows, ['spent'])
  })
}

async function openSession(db: Db, accountId: string): Promise<string> {
  const token = newToken(random)
  const now = systemClock.now()
  const session = {
    id: makeIds(systemClock, random).make('sess'),
    tokenHash: hashToken(token),
    accountId,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + 7 * dayMs,
    userAgent: 'bench',
    clientAddress: '127.0.0.1',
    memberId: null,
  }
  await db.write(() => insert(db.tables.sessions, [session]))
  return `sid=${token}`
}
