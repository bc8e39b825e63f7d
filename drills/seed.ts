import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { endedRun } from '../bench/ended-run.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { auditStore } from '../src/ledger/store/audit.ts'
import { waitingOf } from '../src/ledger/store/write.ts'
import { logStore } from '../src/proof/log/store.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import type { AccountRow, EndedRun, StoredRun } from '../src/storage/db/schema/schema.ts'
import { insert, rows } from '../src/storage/db/sql/query-steps.ts'

export type Seed = {
  /** The folder of a server that is stopped. */
  data: string
  origin: string
  /** A key of an account, and one below that: they pay for every other run. */
  root: { id: string; account: string }
  child: { id: string }
  count: number
}

const batch = 1000
const spanMs = 30 * 86_400_000
const anotherAccount = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
/** What a spreadsheet would run. */
const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '＝1', ' =1', '=HYPERLINK("http://x","y")']

/**
 * Writes ended runs of 30 days straight into a database, with the money they moved, and lets the
 * log number them. Every tenth is another account's. @throws Error when the ledger is not balanced.
 */
export async function seedRuns(seed: Seed): Promise<void> {
  const db = openSqlite(join(seed.data, 'counterfoil.db'))
  const { accounts, keyWindows, runs, unnumberedBatches } = db.tables
  const owned = seed.root.account.toLowerCase()
  const [owner] = await db.read((q) =>
    rows(q.select().from(accounts).where(eq(accounts.id, owned))),
  )
  if (!owner) throw new Error('the account has no credit')
  const spent: Spent = {}
  for (const ended of seededRuns(seed, owner, spent)) {
    await db.write(function* () {
      yield* insert(runs, ended)
      yield* insert(unnumberedBatches, waitingOf(ended))
    })
  }
  await db.write(function* (q) {
    const { balance, moves, movedAt } = owner
    yield* rows(
      q.update(accounts).set({ balance, moves, movedAt }).where(eq(accounts.id, owned)).returning(),
    )
    const limit = 9_000_000_000_000_000n
    const windows = Object.entries(spent).map(([keyId, sum]) => {
      return { keyId, windowStart: 0, limit, spent: sum, held: 0n }
    })
    yield* rows(q.insert(keyWindows).values(windows).returning())
  })
  const log = logStore(db, { clock: systemClock, node: 'drill', start: 0 })
  for (;;) {
    const lease = await log.takeLease()
    if (!lease || (await log.number(lease, batch)) === 0) break
  }
  const faults = await auditStore(db).whole(systemClock.now())
  await db.close()
  if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'))
}

/** Amounts spent, by key id. */
type Spent = Record<string, bigint>

/** The runs, some at a time, with their charges; moves the money of their owner and its keys. */
function* seededRuns(seed: Seed, owner: AccountRow, spent: Spent): Generator<StoredRun[]> {
  const ids = makeIds(systemClock, systemRandom())
  const begun = systemClock.now() - spanMs - 3_600_000
  for (let at = 0; at < seed.count; at += batch) {
    const ended: StoredRun[] = []
    for (let index = at; index < Math.min(at + batch, seed.count); index++) {
      const finishedAt = begun + Math.floor((index / seed.count) * spanMs)
      const run = runAt(seed, ids.make('run'), index, finishedAt)
      for (const [keyId] of run.windows) spent[keyId] = (spent[keyId] ?? 0n) + run.cost
      ended.push({ ...run, ...chargeOf(run, owner, finishedAt) })
    }
    yield ended
  }
}

function chargeOf({ cost }: EndedRun, owner: AccountRow, at: number) {
  if (cost === 0n) return { seq: null, movedAt: null, balance: null }
  owner.balance -= cost
  owner.moves++
  owner.movedAt = Math.max(owner.movedAt, at)
  return { seq: owner.moves, movedAt: at, balance: owner.balance }
}

function runAt(seed: Seed, id: string, index: number, finishedAt: number): EndedRun {
  const { origin } = seed
  const [root, child] = [seed.root.id, seed.child.id]
  const isMine = index % 10 !== 0
  const keyId = index % 2 === 0 ? root : child
  const owned = {
    account: isMine ? seed.root.account.toLowerCase() : anotherAccount,
    keyId: isMine ? keyId : 'key_other',
  }
  const run = endedRun({ id, issuer: origin, ...owned, finishedAt, index })
  const model = index % 11 === 0 ? '=acme/model' : run.model
  const tags = { team: formulas[index % formulas.length] ?? '', 'a,"b"': `line\r\n${index}` }
  if (!isMine) return { ...run, model, tags, lines: [], cost: 0n, hold: 0n }
  const chain = keyId === root ? [root] : [child, root]
  return { ...run, model, tags, windows: chain.map((key) => [key, 0]) }
}
