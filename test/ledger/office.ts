import { asc } from 'drizzle-orm'
import { issueKey, type KeyRequest } from '../../src/access/keys/issue.ts'
import { assertUsable } from '../../src/access/keys/key.ts'
import { revokeKey } from '../../src/access/keys/revoke.ts'
import { keyStore } from '../../src/access/keys/store.ts'
import { makePlans } from '../../src/access/plan-config.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { makeIds } from '../../src/kernel/ids.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { refuse } from '../../src/kernel/refusal.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { endHold, takeHold } from '../../src/ledger/hold.ts'
import { type Ledger, openLedger } from '../../src/ledger/post.ts'
import { storeOpenRuns } from '../../src/runs/store-open.ts'
import type { Db } from '../../src/storage/db/engine/db.ts'
import { runColumns } from '../../src/storage/db/schema/run-columns.ts'
import type {
  AccountRow,
  EndedRun,
  KeyRow,
  RunRow,
  TransferRow,
  WindowRow,
} from '../../src/storage/db/schema/schema.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { toRunRow, windowId } from '../../src/storage/holds/open-runs.ts'
import { type Engine, freshDb } from '../support/world.ts'

export type Office = ReturnType<typeof officeOn>

export type HeldClock = Clock & { set(at: number): void }

/** A clock that stands until it is set. */
export function heldClock(start = Date.UTC(2026, 0, 15, 12)): HeldClock {
  let time = start
  let passed = 0
  return {
    now: () => time,
    monotonic: () => performance.now() + passed,
    set(at) {
      // A clock that is set back gives no time back.
      passed += Math.max(0, at - time)
      time = at
    },
  }
}

/** Keys and money over a fresh database, without the doors. */
export async function openOffice(engine: Engine, clock = heldClock()) {
  const { db, drop } = await freshDb(engine)
  const close = async () => {
    await db.close()
    await drop()
  }
  return { ...officeOn(db, clock), clock, close }
}

/** One node over a database that others may use too: a ledger of its own, keys, ids. */
export function officeOn(db: Db, clock: Clock) {
  const random = systemRandom()
  const ids = makeIds(clock, random)
  const plans = makePlans([{ id: 'free', limits: { max_keys: 500 } }], {
    rpm: 6000,
    concurrency: 1024,
  })
  const keys = keyStore(db, clock, plans)
  const deps = { ledger: openLedger(db, clock), keys, plans, ids, random, clock }
  return {
    ...deps,
    db,
    grant: (account: string, amount: bigint, ledger: Ledger = deps.ledger) =>
      grantCredit({ ledger, ids }, { account, amount, reason: 'test', actor: 'test' }),
    key: async (wish: Partial<KeyRequest> & { account: string }, ledger: Ledger = deps.ledger) => {
      const plain = { name: 'test', capLimit: 10n ** 15n, capWindow: 'lifetime', actor: 'test' }
      const made = await issueKey({ ...deps, ledger }, { ...(plain as KeyRequest), ...wish })
      return made.key
    },
    revoke: (key: KeyRow, ledger: Ledger = deps.ledger) =>
      revokeKey({ ...deps, ledger }, { keyId: key.id, actor: 'test' }),
    /** Reserves `amount` as the begin of a run does. */
    hold: (
      key: KeyRow,
      amount: bigint,
      ledger: Ledger = deps.ledger,
      /** In memory where one process writes, as the begin of a run that no one was told about. */
      isHold = false,
    ): Promise<RunRow> => {
      const id = ids.make('run')
      return ledger.post({
        account: key.accountId,
        keys: key.lineage,
        isHold,
        decide(unit) {
          const chain = key.lineage.map((each) => unit.key(each) ?? refuse('invalid_key'))
          assertUsable(chain, unit.now)
          const windows = takeHold(unit, chain, amount, () => ({}))
          const run = { ...blankRun(id, key), hold: amount, windows, createdAt: unit.now }
          unit.addRun(run)
          return run
        },
      })
    },
    /** Gives the runs in memory that are older than a moment their rows. */
    sweep: (ledger: Ledger = deps.ledger): Promise<void> =>
      storeOpenRuns({ ledger, clock }, db.open),
    /** Ends a hold as the end of a run does; at 0 it is released. */
    end: (run: RunRow, cost: bigint, ledger: Ledger = deps.ledger): Promise<void> =>
      ledger.post({
        account: run.accountId,
        keys: run.windows.map(([keyId]) => keyId),
        run: run.id,
        decide(unit) {
          const open = unit.run(run.id)
          if (!open) throw new Error(`run ${run.id} is not open`)
          endHold(unit, open, cost)
          unit.endRun({ ...endedAs(run, unit.now), cost })
        },
      }),
  }
}

export type Picture = {
  accounts: AccountRow[]
  keys: KeyRow[]
  windows: WindowRow[]
  transfers: TransferRow[]
  runs: RunRow[]
}

/** All money that is stored at one moment, read beside the writer: no hold in memory alone. */
export function pictureOf(db: Db): Promise<Picture> {
  const { tables, views } = db
  return db.snapshot(function* (q) {
    const accounts: AccountRow[] = yield* rows(q.select().from(tables.accounts))
    const keys: KeyRow[] = yield* rows(q.select().from(tables.keys).orderBy(asc(tables.keys.id)))
    const windows: WindowRow[] = yield* rows(q.select().from(tables.keyWindows))
    const transfers: TransferRow[] = yield* rows(q.select().from(views.journal))
    const ended: RunRow[] = yield* rows(q.select(runColumns(db)).from(tables.runs))
    const open = (yield* rows(q.select().from(tables.openRuns))).map(toRunRow)
    return { accounts, keys, windows, transfers, runs: [...ended, ...open] }
  })
}

/** Every rule of money that a picture breaks, computed without the ledger's code. */
export function faultsOf({ accounts, keys, windows, transfers, runs }: Picture): string[] {
  const faults: string[] = []
  const must = (holds: boolean, what: string) => void (holds || faults.push(what))
  const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
  for (const { id, balance, held } of accounts) {
    must(balance >= held && held >= 0n, `account ${id}: balance ${balance}, held ${held}`)
    const own = transfers.filter((transfer) => transfer.accountId === id)
    const came = sum(own.filter((t) => t.target === 'user').map((t) => t.amount))
    const went = sum(own.filter((t) => t.source === 'user').map((t) => t.amount))
    must(balance === came - went, `account ${id}: balance ${balance}, journal ${came - went}`)
    const open = runs.filter((run) => run.accountId === id && run.finishedAt === null)
    const holds = sum(open.map((run) => run.hold))
    must(held === holds, `account ${id}: held ${held}, open holds ${holds}`)
  }
  const caps = new Map(keys.map((key) => [key.id, key.capLimit]))
  const bySpend = new Map<string, { held: bigint; spent: bigint }>()
  for (const run of runs) {
    for (const [keyId, start] of run.windows) {
      const at = windowId(keyId, start)
      const so = bySpend.get(at) ?? { held: 0n, spent: 0n }
      bySpend.set(at, {
        held: so.held + (run.finishedAt === null ? run.hold : 0n),
        spent: so.spent + run.cost,
      })
    }
  }
  for (const { keyId, windowStart, limit, spent, held } of windows) {
    const at = windowId(keyId, windowStart)
    must(limit === caps.get(keyId), `window ${at}: limit ${limit}, cap ${caps.get(keyId)}`)
    must(held >= 0n && spent >= 0n, `window ${at}: spent ${spent}, held ${held}`)
    must(spent + held <= limit, `window ${at}: ${spent} + ${held} of ${limit}`)
    const so = bySpend.get(at) ?? { held: 0n, spent: 0n }
    must(so.held === held, `window ${at}: held ${held}, open holds ${so.held}`)
    must(so.spent === spent, `window ${at}: spent ${spent}, costs ${so.spent}`)
    bySpend.delete(at)
  }
  for (const at of bySpend.keys()) faults.push(`window ${at} is missing`)
  for (const run of runs) {
    const chain = keys.find((key) => key.id === run.keyId)?.lineage ?? []
    const charged = run.windows.map(([keyId]) => keyId)
    must(chain.join() === charged.join(), `run ${run.id} is not charged to its whole chain`)
  }
  return faults
}

let accountsMade = 0

/** An account no one has used, so that tests share a database. */
export const newAccount = (): string => `0x${(++accountsMade).toString(16).padStart(40, '0')}`

/** The run with an end that some receipt could be of. */
export const endedAs = (run: RunRow, now: number): EndedRun => ({
  ...run,
  status: 'succeeded',
  outcome: 'complete',
  usageSource: 'counted',
  finishedAt: now,
  durationMs: 0,
  digest: crypto.getRandomValues(new Uint8Array(32)),
})

function blankRun(id: string, key: KeyRow): RunRow {
  const owner = { id, accountId: key.accountId, keyId: key.id, node: 'test' }
  const states = { status: 'running', kind: 'chat', model: 'echo-1', route: '' } as const
  const times = { createdAt: 0, startedAt: null, firstByteAt: null, finishedAt: null }
  const money = { hold: 0n, windows: [], priceList: 'test@1', lines: [], cost: 0n, discountBps: 0 }
  const ending = { usageSource: null, clamped: false, outcome: null, error: null, durationMs: null }
  const receipt = {
    receiptId: null,
    issuer: 'test',
    passport: '',
    seed: new Uint8Array(32),
    inputCommitment: new Uint8Array(32),
    outputCommitment: null,
    digest: null,
    logPlace: null,
    signature: null,
  }
  const rest = { tags: {}, metadata: {}, background: false, output: null, outputUntil: null }
  return { ...owner, ...states, ...times, ...money, ...ending, ...receipt, ...rest }
}
