import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { endedRun } from '../../../bench/ended-run.ts'
import { statementStore } from '../../../src/billing/statement/store.ts'
import { usageStore } from '../../../src/billing/usage/store.ts'
import { explorerStore } from '../../../src/front/explorer/store.ts'
import { sha256 } from '../../../src/kernel/hash.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { sumLedger } from '../../../src/ledger/store/sums.ts'
import { toStored, waitingOf } from '../../../src/ledger/store/write.ts'
import { append, emptyFrontier } from '../../../src/proof/log/tree.ts'
import { receiptIdOf } from '../../../src/proof/receipts/receipt.ts'
import { receiptStore } from '../../../src/proof/receipts/store.ts'
import type { Counter } from '../../../src/storage/counts/counter.ts'
import { countStore } from '../../../src/storage/counts/store.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { AccountRow, EndedRun, TransferRow } from '../../../src/storage/db/schema/schema.ts'
import { insert } from '../../../src/storage/db/sql/query-steps.ts'
import { signatureRows } from '../../../src/storage/db/sql/signatures.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { plainAccount } from '../../support/plain-key.ts'
import { engines, freshDb } from '../../support/world.ts'

const [account, key] = ['0xa', 'key_1']
const issuer = 'https://gw.example'
const numberedCount = 42
const granted = 10n ** 9n

const idAt = (at: number) => `run_${String(at).padStart(26, '0')}`

/** An ended run without a place. */
function ended(at: number): EndedRun {
  const owned = { issuer, account, keyId: key }
  const run = endedRun({ id: idAt(at), ...owned, finishedAt: 1000 + at, index: at })
  return { ...run, windows: [[key, 0]] }
}

/** Those in the log, from place 1 on. */
const placed = Array.from({ length: numberedCount }, (_, i) => ended(i))
const waiting = [ended(60), ended(61)]
const charged = [...placed, ...waiting]

/** The whole journal: a grant, then what runs cost. */
const lines: TransferRow[] = [
  {
    ...{ accountId: account, ref: 'req_1', kind: 'grant', source: 'grants', target: 'user' },
    ...{ amount: granted, at: 10, seq: 1, balance: granted },
  },
]
for (const { id, cost, finishedAt } of charged) {
  const { balance } = lines.at(-1) ?? { balance: 0n }
  lines.push({
    ...{ accountId: account, ref: id, kind: 'run', source: 'user', target: 'revenue' },
    ...{ amount: cost, at: finishedAt, seq: lines.length + 1, balance: balance - cost },
  })
}
const signatureOf = (by: number) => new Uint8Array(65).fill(by)
const places = placed.map((_, i) => i + 1)
/** Every third receipt waits for its signature. */
const signed = places
  .filter((place) => place % 3 !== 0)
  .map((place) => ({ place, signature: signatureOf(place) }))

const revenue = charged.reduce((sum, { cost }) => sum + cost, 0n)

const leaves = append(emptyFrontier, [
  { kind: leafKinds.priceList, digest: sha256('prices') },
  ...placed.map(({ id, digest }) => {
    return { kind: leafKinds.receipt, digest, runId: id }
  }),
]).stored

/** Writes rows as the ledger and the log leave them. */
function fill(db: Db): Promise<void> {
  const { accounts, keyWindows, logLeaves, receiptSignatures, runs } = db.tables
  const moved = { moves: lines.length, movedAt: lines.at(-1)?.at ?? 0, paidIn: granted }
  const owner: AccountRow = { ...plainAccount, id: account, balance: granted - revenue, ...moved }
  const window = {
    keyId: key,
    windowStart: 0,
    limit: granted,
    spent: revenue,
    held: 0n,
    told: null,
  }
  return db.write(function* () {
    yield* insert(accounts, [owner])
    yield* insert(keyWindows, [window])
    yield* insert(db.tables.transfers, lines.slice(0, 1))
    const stored = charged.map((run, i) => {
      const logPlace = db.exclusive && i < numberedCount ? i + 1 : null
      return toStored({ ...run, logPlace }, lines[i + 1])
    })
    yield* insert(runs, stored)
    yield* insert(logLeaves, leaves)
    yield* insert(receiptSignatures, signatureRows(signed))
    yield* insert(db.tables.unnumberedBatches, waitingOf(waiting))
  })
}

describe.each(engines)('ended runs as they are stored, on %s', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDb>>
  let db: Db
  beforeAll(async () => {
    fresh = await freshDb(engine)
    db = fresh.db
    await fill(db)
  }, 60_000)
  afterAll(async () => {
    await db.close()
    await fresh.drop()
  })

  const idsOf = (runs: readonly { id: string }[]) => runs.map(({ id }) => id)
  const bare = ({ accountId: _, ...line }: TransferRow) => line

  test('The books add up, and sums say the same.', async () => {
    expect(await auditStore(db).faults(10_000)).toEqual([])
    expect(await auditStore(db).whole(5000)).toEqual([])
    expect(await auditStore(db).sinceLast()).toEqual([])
    expect(await sumLedger(db)).toEqual({
      ...{ balance: granted - revenue, held: 0n },
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
      expect(listed).toEqual(lines.map(bare).reverse())
      const last = lines.length
      const followed = []
      for (;;) {
        const next = await store.following(account, followed.at(-1), last, limit)
        followed.push(...next)
        if (next.length < limit) break
      }
      expect(followed).toEqual(lines.map(bare))
    }
    const found = await Promise.all(lines.map((line) => store.find(account, line)))
    expect(found).toEqual(lines.map(bare))
    const [day] = await store.days(account, undefined, 2)
    expect([day?.close.seq, day?.open, day?.beside.length]).toEqual([lines.length, undefined, 1])
  })

  test('The log is read in its order from any place, forwards and backwards.', async () => {
    const receipts = receiptStore(db)
    const explorer = explorerStore(db)
    const placeOf = (run: EndedRun) => placed.indexOf(run) + 1
    const ends = placed.length + 3
    for (let place = 0; place < ends; place++) {
      const ahead = placed.filter((run) => placeOf(run) >= place).slice(0, 5)
      const numbered = await receipts.numberedFrom(place, 5)
      expect(numbered.map((one) => one.place)).toEqual(ahead.map(placeOf))
      expect(numbered.map((one) => one.digest)).toEqual(ahead.map((run) => run.digest))
      const behind = placed.filter((run) => placeOf(run) < place).slice(-5)
      const recent = await explorer.recent(place, 5)
      expect(recent.items.map(({ run }) => [run.id, run.logPlace])).toEqual(
        behind.map((run) => [run.id, placeOf(run)] as [string, number]).reverse(),
      )
      const span = { start: place, end: place + 5 }
      const within = placed.filter((run) => placeOf(run) >= place && placeOf(run) < place + 5)
      const exported = await usageStore(db).exportedIn(span, { account })
      expect(exported.map((run) => [run.id, run.place])).toEqual(
        within.map((run) => [run.id, placeOf(run)]),
      )
      expect((await usageStore(db).runsIn(span, { account })).length).toBe(within.length)
      expect((await usageStore(db).exportedIn(span, { account: 'other' })).length).toBe(0)
    }
    expect(await explorer.newestPlace()).toBe(placed.length)
  })

  test('Receipts have their places, and signatures where they are stored.', async () => {
    const receipts = receiptStore(db)
    const expected = placed.map((_, i) => [
      i + 1,
      signed.find(({ place }) => place === i + 1)?.signature ?? null,
    ])
    const found = await Promise.all(placed.map(({ id }) => receipts.find(receiptIdOf(id))))
    expect(found.map((run) => [run?.logPlace, run?.signature] as unknown)).toEqual(expected)
    const { items } = await receipts.listShown(
      { account },
      { since: '' },
      { limit: 100, after: undefined },
    )
    expect(items.map(({ id }) => id)).toEqual(
      idsOf([...placed, ...waiting])
        .sort()
        .reverse(),
    )
    const places = new Map(items.map((run) => [run.id, run.logPlace]))
    expect(placed.map(({ id }) => places.get(id))).toEqual(placed.map((_, i) => i + 1))
    expect(waiting.map(({ id }) => places.get(id))).toEqual([null, null])
  })

  test('Usage adds what waits for its place to what the log has counted.', async () => {
    const by = { day: true, key: false, model: false, provider: false, waits: false }
    const { unnumbered } = await usageStore(db).picture({ account }, [], by)
    expect(unnumbered.map(({ cost }) => cost)).toEqual(waiting.map(({ cost }) => cost))
  })

  test('A counter that is new counts each receipt once.', async () => {
    const counted: string[] = []
    const counter: Counter = {
      name: 'test.new',
      *add(_, receipts) {
        counted.push(...receipts.map(({ finishedAt }) => idAt(finishedAt - 1000)))
      },
    }
    const clock = { now: () => 20_000 }
    const counts = countStore(db, { clock, node: 'one' }, [counter])
    const lease = await counts.takeLease()
    if (!lease) throw new Error('no lease')
    while ((await counts.count(lease, 7)) > 0);
    expect(counted).toEqual(idsOf(placed))
    expect(await counts.waits()).toBe(false)
  })

  test('Signing keeps a signature that is there, and adds one that is missing.', async () => {
    const receipts = receiptStore(db)
    const missing = places.filter((place) => !signed.some((one) => one.place === place))
    const signedAs = (by: number) => missing.map((place) => ({ place, signature: signatureOf(by) }))
    await receipts.sign(signedAs(200))
    await receipts.sign(signedAs(201))
    const found = await receipts.numberedFrom(0, 100)
    expect(found.map(({ place, signature }) => [place, signature?.[0]] as unknown)).toEqual(
      places.map((place) => [place, missing.includes(place) ? 200 : place]),
    )
  })
})
