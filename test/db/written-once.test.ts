import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { endedRun } from '../../bench/ended-run.ts'
import { statementStore } from '../../src/billing/statement/store.ts'
import { usageStore } from '../../src/billing/usage/store.ts'
import { explorerStore } from '../../src/front/explorer/store.ts'
import { sha256 } from '../../src/kernel/hash.ts'
import { auditStore } from '../../src/ledger/store/audit.ts'
import { sumLedger } from '../../src/ledger/store/sums.ts'
import { append, emptyFrontier } from '../../src/proof/log/tree.ts'
import { receiptIdOf } from '../../src/proof/receipts/receipt.ts'
import { receiptStore } from '../../src/proof/receipts/store.ts'
import type { Counter } from '../../src/storage/counts/counter.ts'
import { countStore } from '../../src/storage/counts/store.ts'
import type { Db } from '../../src/storage/db/db.ts'
import { insert, rows } from '../../src/storage/db/query-steps.ts'
import type { RunRow, TransferRow } from '../../src/storage/db/schema.ts'
import { leafKinds } from '../../src/verify/merkle.ts'
import { engines, freshDb } from '../support/world.ts'
import { migrateRest, migrateUpTo } from './older.ts'
import { insertOlder } from './older-rows.ts'

const [account, key] = ['0xa', 'key_1']
const issuer = 'https://gw.example'
/** Receipts of the version before, from place 1 on. */
const numberedCount = 30
const laterCount = 12
const granted = 10n ** 9n

const idAt = (at: number) => `run_${String(at).padStart(26, '0')}`
const signatureAt = (place: number) => new Uint8Array(65).fill(place)

/** A run as the version before stored it; every third was not signed yet. */
function earlier(at: number, place: number | null): RunRow {
  const owned = { issuer, account, keyId: key }
  const run = endedRun({ id: idAt(at), ...owned, finishedAt: 1000 + at, index: at })
  const signature = place === null || at % 3 === 0 ? null : signatureAt(place)
  return { ...run, windows: [[key, 0]], logPlace: place, signature }
}

const numberedBefore = Array.from({ length: numberedCount }, (_, i) => earlier(i, i + 1))
const waiting = [earlier(40, null), earlier(41, null)]
const open = [earlier(50, null), earlier(51, null)].map(
  (run): RunRow => ({
    ...run,
    ...{ status: 'running', finishedAt: null, digest: null, outcome: null, cost: 0n, hold: 7n },
  }),
)
/** What this version stores: the charge in the run. */
const later = Array.from({ length: laterCount }, (_, i) => ({
  ...{ ...earlier(60 + i, null), logPlace: null, signature: null },
  place: numberedCount + 1 + i,
}))

/** A journal: a grant, then what runs cost. */
function journalOf(charged: readonly RunRow[]): TransferRow[] {
  const grant = { ref: 'req_1', kind: 'grant', source: 'grants', target: 'user' } as const
  const lines: TransferRow[] = [
    { accountId: account, ...grant, amount: granted, at: 10, seq: 1, balance: granted },
  ]
  let balance = granted
  for (const run of charged) {
    balance -= run.cost
    const sides = { kind: 'run', source: 'user', target: 'revenue' } as const
    const at = run.finishedAt ?? 0
    const line = { accountId: account, ref: run.id, ...sides, amount: run.cost, at }
    lines.push({ ...line, seq: lines.length + 1, balance })
  }
  return lines
}

const lines = journalOf([...numberedBefore, ...waiting, ...later])
const linesBefore = lines.slice(0, 1 + numberedCount + waiting.length)
const spentBy = (runs: readonly { cost: bigint }[]) =>
  runs.reduce((sum, { cost }) => sum + cost, 0n)

const leaves = append(emptyFrontier, [
  { kind: leafKinds.priceList, digest: sha256('prices') },
  ...[...numberedBefore, ...later].map(({ digest }) => {
    return { kind: leafKinds.receipt, digest: digest ?? new Uint8Array() }
  }),
]).stored

async function fill(db: Db): Promise<void> {
  const { accounts, keyWindows, logLeaves, runs, transfers } = db.tables
  const spent = spentBy([...numberedBefore, ...waiting])
  const held = 14n
  const at = { createdAt: 0, movedAt: 1041, plan: 'free', planUntil: null }
  const balance = granted - spent
  const owner = { id: account, balance, held, status: 'active', moves: linesBefore.length, ...at }
  await insertOlder(db, accounts, [owner])
  const window = { keyId: key, windowStart: 0, limit: granted, spent, held }
  await insertOlder(db, keyWindows, [window])
  await insertOlder(db, transfers, linesBefore)
  const added = ['place', 'seq', 'movedAt', 'balance']
  await insertOlder(db, runs, [...numberedBefore, ...waiting, ...open], added)
  await insertOlder(db, logLeaves, leaves.slice(0, numberedCount + 1), ['runId'])
}

/** Ends runs as this version does. */
function end(db: Db): Promise<void> {
  const { accounts, keyWindows, logLeaves, runs } = db.tables
  const charges = lines.slice(linesBefore.length)
  const balance = charges.at(-1)?.balance ?? 0n
  return db.write(function* (q) {
    const stored = later.map(({ place, ...run }, i) => {
      const { seq = null, at: movedAt = null, balance = null } = charges[i] ?? {}
      return { ...run, place: db.exclusive ? place : null, seq, movedAt, balance }
    })
    yield* insert(runs, stored)
    const named = leaves.slice(numberedCount + 1)
    yield* insert(
      logLeaves,
      named.map((leaf, i) => ({ ...leaf, runId: later[i]?.id ?? null })),
    )
    const moved = { balance, moves: lines.length, movedAt: charges.at(-1)?.at ?? 0 }
    yield* rows(q.update(accounts).set(moved).returning())
    const spent = spentBy([...numberedBefore, ...waiting, ...later])
    yield* rows(q.update(keyWindows).set({ spent }).returning())
  })
}

describe.each(engines)('a database whose runs were written twice, on %s', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDb>>
  let db: Db
  beforeAll(async () => {
    fresh = await freshDb(engine, true)
    db = fresh.db
    await migrateUpTo(db, '0009_deposits_once')
    await fill(db)
    expect((await migrateRest(db))[0]).toBe('0010_written_once')
  }, 60_000)
  afterAll(async () => {
    await db.close()
    await fresh.drop()
  })

  const idsOf = (runs: readonly { id: string }[]) => runs.map(({ id }) => id)
  const bare = ({ accountId: _, ...line }: TransferRow) => line

  test('Open runs moved to their own table with all that their receipts need.', async () => {
    const { openRuns, runs } = db.tables
    const moved = await db.read((q) => rows(q.select().from(openRuns).orderBy(asc(openRuns.id))))
    expect(moved.length).toBe(2)
    expect(open).toMatchObject(moved)
    const ended = await db.read((q) =>
      rows(q.select({ id: runs.id }).from(runs).orderBy(asc(runs.id))),
    )
    expect(idsOf(ended)).toEqual(idsOf([...numberedBefore, ...waiting]))
  })

  test('Ended runs without a place wait for one.', async () => {
    const { unnumberedBatches } = db.tables
    const found = await db.read((q) =>
      rows(q.select().from(unnumberedBatches).orderBy(asc(unnumberedBatches.id))),
    )
    expect(found).toEqual(
      waiting.map(({ id, finishedAt }) => ({ endedAt: finishedAt ?? 0, id, runs: [id] })),
    )
    const days = { from: 0, to: 0 }
    const by = { day: true, key: false, model: false }
    const { unnumbered } = await usageStore(db).picture({ account }, days, by)
    expect(unnumbered.map(({ cost }) => cost)).toEqual(waiting.map(({ cost }) => cost))
  })

  describe.each(['before a run ended', 'after runs ended'])('%s', (when) => {
    const isLater = when === 'after runs ended'
    const all = isLater ? [...numberedBefore, ...later] : numberedBefore
    const journal = isLater ? lines : linesBefore
    beforeAll(async () => {
      if (isLater) await end(db)
    })

    test('The books add up, and sums say the same.', async () => {
      expect(await auditStore(db).faults(10_000)).toEqual([])
      expect(await auditStore(db).whole(5000)).toEqual([])
      expect(await auditStore(db).sinceLast()).toEqual([])
      const revenue = spentBy(journal.slice(1).map(({ amount }) => ({ cost: amount })))
      expect(await sumLedger(db)).toEqual({
        ...{ balance: granted - revenue, held: 14n },
        sides: { grants: -granted, user: granted - revenue, revenue },
      })
    })

    test('Statements have every line once, whatever the size of a page.', async () => {
      const store = statementStore(db)
      for (const limit of [1, 7, 100]) {
        const listed = []
        for (let after: TransferRow | undefined; ; ) {
          const page = await store.list(account, { limit, after })
          listed.push(...page.items)
          after = page.items.at(-1) as TransferRow | undefined
          if (!page.hasMore) break
        }
        expect(listed).toEqual(journal.map(bare).reverse())
        const last = journal.length
        const followed = []
        for (;;) {
          const next = await store.following(account, followed.at(-1), last, limit)
          followed.push(...next)
          if (next.length < limit) break
        }
        expect(followed).toEqual(journal.map(bare))
      }
      const found = await Promise.all(journal.map((line) => store.find(account, line)))
      expect(found).toEqual(journal.map(bare))
      const [day] = await store.days(account, undefined, 2)
      expect([day?.close.seq, day?.open, day?.beside.length]).toEqual([
        journal.length,
        undefined,
        1,
      ])
    })

    test('The log is read in its order from any place, forwards and backwards.', async () => {
      const receipts = receiptStore(db)
      const explorer = explorerStore(db)
      const placeOf = (run: RunRow) => all.indexOf(run) + 1
      const ends = all.length + 3
      for (let place = 0; place < ends; place++) {
        const ahead = all.filter((run) => placeOf(run) >= place).slice(0, 5)
        const numbered = await receipts.numberedFrom(place, 5)
        expect(numbered.map((one) => one.place)).toEqual(ahead.map(placeOf))
        expect(numbered.map((one) => one.digest)).toEqual(ahead.map((run) => run.digest))
        const behind = all.filter((run) => placeOf(run) < place).slice(-5)
        const recent = await explorer.recent(place, 5)
        expect(recent.items.map(({ run }) => [run.id, run.logPlace])).toEqual(
          behind.map((run) => [run.id, placeOf(run)] as [string, number]).reverse(),
        )
        const span = { start: place, end: place + 5 }
        const within = all.filter((run) => placeOf(run) >= place && placeOf(run) < place + 5)
        const exported = await usageStore(db).exportedIn(span, { account })
        expect(exported.map((run) => [run.id, run.place])).toEqual(
          within.map((run) => [run.id, placeOf(run)]),
        )
        expect((await usageStore(db).runsIn(span, { account })).length).toBe(within.length)
        expect((await usageStore(db).exportedIn(span, { account: 'other' })).length).toBe(0)
      }
      expect(await explorer.newestPlace()).toBe(all.length)
    })

    test('Receipts have their places, and signatures where they are stored.', async () => {
      const receipts = receiptStore(db)
      const expected = all.map((run, i) => [i + 1, run.signature])
      const found = await Promise.all(all.map(({ id }) => receipts.find(receiptIdOf(id))))
      expect(found.map((run) => [run?.logPlace, run?.signature] as unknown)).toEqual(expected)
      const { items } = await receipts.listShown(
        { account },
        { since: '' },
        { limit: 100, after: undefined },
      )
      expect(items.map(({ id }) => id)).toEqual(
        idsOf([...all, ...waiting])
          .sort()
          .reverse(),
      )
      const places = new Map(items.map((run) => [run.id, run.logPlace]))
      expect(all.map(({ id }) => places.get(id))).toEqual(all.map((_, i) => i + 1))
      expect(waiting.map(({ id }) => places.get(id))).toEqual([null, null])
    })

    test('A counter that is new counts each receipt once.', async () => {
      const counted: string[] = []
      const counter: Counter = {
        name: `test.${isLater}`,
        *add(_, receipts) {
          counted.push(...receipts.map(({ finishedAt }) => idAt(finishedAt - 1000)))
        },
      }
      const clock = { now: () => 20_000 + Number(isLater) }
      const counts = countStore(db, { clock, node: 'one' }, [counter])
      const lease = await counts.takeLease()
      if (!lease) throw new Error('no lease')
      while ((await counts.count(lease, 7)) > 0);
      expect(counted).toEqual(idsOf(all))
      expect(await counts.waits()).toBe(false)
    })
  })

  test('Signing keeps a signature that is there, and adds one of a run of before.', async () => {
    const receipts = receiptStore(db)
    const places = Array.from({ length: numberedCount + laterCount }, (_, i) => i + 1)
    const unsigned = places.filter((place) => place > numberedCount || (place - 1) % 3 === 0)
    const signedAs = (by: number) =>
      unsigned.map((place) => ({ place, signature: new Uint8Array(65).fill(by) }))
    await receipts.sign(signedAs(200))
    await receipts.sign(signedAs(201))
    const found = await receipts.numberedFrom(0, 100)
    expect(found.map(({ place, signature }) => [place, signature?.[0]] as unknown)).toEqual(
      places.map((place) => [place, unsigned.includes(place) ? 200 : place]),
    )
  })
})
