import { join } from 'node:path'
import { endedRun } from '../bench/ended-run.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { sha256 } from '../src/kernel/hash.ts'
import { makeIds } from '../src/kernel/ids.ts'
import { systemRandom } from '../src/kernel/random.ts'
import { auditStore } from '../src/ledger/store/audit.ts'
import type { Db } from '../src/storage/db/engine/db.ts'
import { openSqlite } from '../src/storage/db/engine/sqlite.ts'
import type {
  AccountRow,
  EndedRun,
  IdempotentRow,
  KeyRow,
  RunRow,
} from '../src/storage/db/schema/schema.ts'
import { insert } from '../src/storage/db/sql/query-steps.ts'
import { plainAccount, plainKey } from '../test/support/plain-key.ts'

type Wish = {
  origin: string
  count: number
  /** Each has a key, and as many runs as the others. */
  accounts: number
}

const hold = 1_000_000n
const credit = 9_000_000_000n
const dayMs = 86_400_000

/** Writes open runs into the folder of a server that is stopped. */
export async function writeOpenRuns(data: string, wish: Wish): Promise<void> {
  const db = openSqlite(join(data, 'counterfoil.db'))
  await insertOpenRuns(db, wish)
  await db.close()
}

/**
 * Writes open runs as a process that died leaves them, and the accounts and keys they hold from;
 * every other one with the call that began it. @throws Error when the ledger is not balanced.
 */
export async function insertOpenRuns(db: Db, { origin, count, accounts }: Wish): Promise<void> {
  const ids = makeIds(systemClock, systemRandom())
  const now = systemClock.now()
  const each = Math.floor(count / accounts)
  for (let index = 0; index < accounts; index++) {
    const size = index === 0 ? count - each * (accounts - 1) : each
    const account = accountAt(index, hold * BigInt(size), now)
    const key = keyOf(account, ids.make('key'))
    const runs = Array.from({ length: size }, (_, i) => {
      const owned = { account: account.id, keyId: key.id }
      const ended = endedRun({
        id: ids.make('run'),
        issuer: origin,
        ...owned,
        finishedAt: now,
        index: i,
      })
      return openOf(ended)
    })
    const calls = runs.filter((_, i) => i % 2 === 0).map((run) => callOf(run, now))
    const { held } = account
    const window = { keyId: key.id, windowStart: 0, limit: credit, spent: 0n, held, told: null }
    const granted = { accountId: account.id, ref: 'drill', amount: credit, at: now }
    const place = { seq: 1, balance: credit }
    const sides = { kind: 'grant', source: 'grants', target: 'user' } as const
    await db.write(function* () {
      yield* insert(db.tables.accounts, [account])
      yield* insert(db.tables.transfers, [{ ...granted, ...sides, ...place }])
      yield* insert(db.tables.keys, [key])
      yield* insert(db.tables.keyWindows, [window])
      yield* insert(db.tables.openRuns, runs)
      yield* insert(db.tables.idempotentCalls, calls)
    })
  }
  const faults = await auditStore(db).faults(now)
  if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'))
}

function accountAt(index: number, held: bigint, createdAt: number): AccountRow {
  const id = `0x${Buffer.from(sha256(`drill account ${index}`)).toString('hex', 0, 20)}`
  const money = { balance: credit, held, moves: 1, movedAt: createdAt, paidIn: credit }
  return { ...plainAccount, id, ...money, createdAt }
}

function keyOf({ id: accountId, createdAt }: AccountRow, id: string): KeyRow {
  return {
    id,
    accountId,
    parentId: null,
    lineage: [id],
    name: 'drill',
    fingerprint: id.slice(-8),
    capLimit: credit,
    capWindow: 'lifetime',
    ...plainKey,
    createdAt,
    expiresAt: createdAt + 300 * dayMs,
  }
}

/** The run as it was before its end, with a hold of its own size. */
const openOf = (ended: EndedRun): RunRow => ({
  ...ended,
  node: 'dead',
  status: 'running',
  firstByteAt: null,
  finishedAt: null,
  hold,
  windows: [[ended.keyId, 0]],
  lines: [],
  cost: 0n,
  usageSource: null,
  outcome: null,
  durationMs: null,
  outputCommitment: null,
  digest: null,
  signature: null,
  seed: new Uint8Array(sha256(ended.id)),
})

const callOf = ({ id, node }: RunRow, createdAt: number): IdempotentRow => ({
  scope: Buffer.from(sha256(`scope ${id}`)).toString('hex'),
  fingerprint: Buffer.from(sha256(`body ${id}`)).toString('hex'),
  node,
  runId: id,
  reply: null,
  createdAt,
  until: createdAt + dayMs,
})
