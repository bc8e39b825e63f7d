import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { insertEnded } from '../../../bench/stored-runs.ts'
import { fromHex } from '../../../src/kernel/hex.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { type Head, reopenLog } from '../../../src/proof/log/reopen.ts'
import { headStore } from '../../../src/proof/log/store/head.ts'
import { reopenings } from '../../../src/proof/log/store/reopen.ts'
import { readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { append, emptyFrontier, rootOf } from '../../../src/proof/log/tree.ts'
import { isEnded, receiptOf, reissued } from '../../../src/proof/receipts/receipt.ts'
import type { AnchorRow } from '../../../src/storage/db/schema/schema.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { allRuns, lastEnded, lastRun } from '../../support/runs.ts'
import { type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const other = new Uint8Array(32).fill(7)

let w: World
let origin: string
beforeEach(async () => {
  w = await world()
  origin = w.deps.logs.current.origin
})
afterEach(() => w.stop())

const leaf = (n: number) => ({ kind: leafKinds.receipt, digest: new Uint8Array(32).fill(n) })
const addLeaves = (count: number) =>
  w.deps.logStore.change((_, log) =>
    log.append(() => Array.from({ length: count }, (_, n) => leaf(n))),
  )
const deps = () => ({
  ...w.deps,
  ...{ reopenings: reopenings(w.db, w.deps.logStore), reissue: reissued },
  ...{ headStore: headStore(w.db), headFile: undefined },
})
const reopen = (head?: Head) => reopenLog(deps(), { reason: 'a test', head })
/** Takes the signatures of all receipts. */
const unsign = () => w.db.write((q) => rows(q.delete(w.db.tables.receiptSignatures).returning()))
const lastSigned = async () => (await w.deps.checkpoints.latest(origin))?.size
const sizeNow = () => w.deps.logStore.size()

/** The true head of the log at its size of now. */
async function headNow(): Promise<Head> {
  const [log] = (await readWholeLogs(w.db)).logs
  return { size: log?.size ?? 0, root: fromHex(log?.root ?? '') }
}

describe('a log that is left', () => {
  test('has its last leaves signed first, where it is the history that is known', async () => {
    await addLeaves(3)
    const head = await headNow()
    await addLeaves(2)
    const size = await sizeNow()
    expect(await lastSigned()).toBeUndefined()
    await reopen(head)
    expect(await lastSigned()).toBe(size)
  })

  test('has them signed too where the head is its very end', async () => {
    await addLeaves(3)
    const head = await headNow()
    await reopen(head)
    expect(await lastSigned()).toBe(head.size)
  })

  test('has them signed too where no head is known', async () => {
    await addLeaves(3)
    const size = await sizeNow()
    expect((await reopen()).head).toMatchObject(await headNow())
    expect(await lastSigned()).toBe(size)
  })

  test('names the empty tree where it has no leaf', async () => {
    expect((await reopen()).head).toEqual({ size: 0, root: rootOf(emptyFrontier) })
    expect(await lastSigned()).toBeUndefined()
  })

  test('has nothing more signed where the head is longer, or of another history', async () => {
    await addLeaves(3)
    await reopen({ size: 2, root: other })
    expect(await lastSigned()).toBeUndefined()
  })

  test('of a head as long as itself, the root decides', async () => {
    await addLeaves(3)
    const size = await sizeNow()
    const { frontier } = append(emptyFrontier, [leaf(1), leaf(2)])
    const wrong = { size, root: rootOf(frontier) }
    await reopen(wrong)
    expect(await lastSigned()).toBeUndefined()
  })

  test('signs nothing and is left all the same where more was signed than it has', async () => {
    await addLeaves(3)
    const signed = { issuer: origin, size: 99, root: other, timestamp: 1 }
    await w.deps.checkpoints.add({ ...signed, signature: new Uint8Array(65) })
    expect((await reopen({ size: 0, root: other })).origin).toBe(`${origin}#2`)
    expect(await lastSigned()).toBe(99)
  })

  test('stays where its head cannot be signed for another reason', async () => {
    await addLeaves(3)
    const broken = {
      ...deps(),
      signer: {
        ...w.deps.signer,
        sign: () => {
          throw new Refusal('internal_error')
        },
      },
    }
    const head = { size: 0, root: other }
    expect(await outcomeOf(reopenLog(broken, { reason: 'a test', head }))).toThrow(Refusal)
    expect((await w.db.read((q) => rows(q.select().from(w.db.tables.logs)))).length).toBe(1)
  })
})

describe('the newest head that is known', () => {
  const anchor = (size: number, state: Partial<AnchorRow> = {}): AnchorRow => ({
    ...{ id: `anchor ${size} ${state.issuer} ${state.status}`, issuer: origin, size, prevSize: 0 },
    ...{ root: new Uint8Array(32).fill(size), status: 'confirmed', createdAt: 0, nonce: null },
    ...{ submittedAt: null, txHash: null, blockNumber: null, blockHash: null, blockTime: null },
    ...{ finalizedAt: null, error: null, ...state },
  })
  const anchored = async () => {
    const { size, root } = (await deps().reopenings.anchored(origin)) ?? {}
    return [size, root?.[0]]
  }

  test('is of this log and stands on the chain, where the database has it from there', async () => {
    expect(await anchored()).toEqual([undefined, undefined])
    const { anchors } = w.db.tables
    const add = (...all: AnchorRow[]) => w.db.write(() => insert(anchors, all))
    await add(
      anchor(20, { status: 'submitted' }),
      anchor(21, { status: 'pending' }),
      anchor(22, { status: 'failed' }),
      anchor(23, { issuer: 'another log' }),
    )
    expect(await anchored()).toEqual([undefined, undefined])
    await add(anchor(3, { status: 'final' }))
    expect(await anchored()).toEqual([3, 3])
    await add(anchor(4))
    expect(await anchored()).toEqual([4, 4])
  })

  test('keeps the log as it is stored from growing, wherever it is known from', async () => {
    await addLeaves(3)
    const { anchors } = w.db.tables
    await w.db.write(() => insert(anchors, [anchor(50)]))
    const { head, lost } = await reopen()
    expect([head.size, lost?.size]).toEqual([0, 50])
    expect(await lastSigned()).toBeUndefined()
  })
})

describe('the log that follows', () => {
  test('names who may sign it, in the audit who left the old one, and every price', async () => {
    await addLeaves(3)
    const { head } = await reopen()
    const { signers, auditEntries, priceLists } = w.db.tables
    const [signer] = await w.db.read((q) =>
      rows(
        q
          .select()
          .from(signers)
          .where(eq(signers.issuer, `${origin}#2`)),
      ),
    )
    expect(signer).toMatchObject({ address: w.deps.signer.address, fromIndex: 0, untilIndex: null })
    const audits = await w.db.read((q) => rows(q.select().from(auditEntries)))
    expect(audits.filter(({ action }) => action === 'log.reopen')).toMatchObject([
      { subject: `${origin}#2`, detail: { previous: origin, anchored_size: head.size } },
    ])
    const { logs, faults } = await readWholeLogs(w.db)
    const lists = await w.db.read((q) => rows(q.select().from(priceLists)))
    expect([logs[1]?.size, faults]).toEqual([1 + lists.length, []])
    const start = logs[0]?.size ?? 0
    expect(lists.every(({ logPlace }) => (logPlace ?? 0) > start)).toBe(true)
  })

  test('signs what of the old one waits for its signature, and nothing a second time', async () => {
    const { secret: key } = await w.key({ balance: 10n ** 9n })
    for (let i = 0; i < 3; i++) {
      await w.call('/v1/runs', { key, json: { model: 'counterfoil/echo-1', input: 'hello' } })
    }
    const [first, second, last] = (await allRuns(w)).filter(isEnded)
    if (!first || !second || !last) throw new Error('no runs')
    await unsign()
    const byOthers = { place: second.logPlace ?? -1, signature: new Uint8Array(65).fill(3) }
    await w.db.write(() => insert(w.db.tables.receiptSignatures, [byOthers]))
    // One that waits for its number: it is of the old log all the same.
    const third = { ...last, id: `${last.id.slice(0, -4)}zzzz`, digest: other, cost: 0n }
    await w.db.write(() => insertEnded(w.db, [third]))
    await reopen()
    const after = await allRuns(w)
    const of = (id: string) => after.find((run) => run.id === id)
    const signed = w.deps.signer.sign(first.digest)
    expect(Buffer.from(of(first.id)?.signature ?? []).equals(Buffer.from(signed))).toBe(true)
    expect(of(second.id)?.signature?.[0]).toBe(3)
    expect(of(third.id)?.logPlace).toBeNumber()
    expect(of(third.id)?.signature).not.toBeNull()
  })

  test('signs all that waits, however many there are', async () => {
    const { secret: key } = await w.key({ balance: 10n ** 9n })
    await w.call('/v1/runs', { key, json: { model: 'counterfoil/echo-1', input: 'hello' } })
    const run = await lastEnded(w)
    const more = Array.from({ length: 501 }, (_, i) => {
      return { ...run, id: `run_${String(i).padStart(26, '0')}` }
    })
    await w.db.write(() => insertEnded(w.db, more))
    await w.deps.sequencer.flush()
    await unsign()
    const signed = async () => (await allRuns(w)).filter(({ signature }) => signature !== null)
    expect(await signed()).toEqual([])
    await reopen()
    expect(await signed()).toHaveLength(502)
  })

  test('The server signs no leaf of logs before the abandoned one.', async () => {
    const { secret: key } = await w.key({ balance: 10n ** 9n })
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    for (let i = 0; i < 2; i++) await w.call('/v1/runs', { key, json })
    await unsign()
    const previous = { ...w.deps.logs.current, start: (await lastRun(w)).logPlace ?? 0 }
    await deps().reopenings.reopen({
      ...{ id: 'req_1', now: 1, previous, origin: 'next', reason: 'a test' },
      ...{ head: { size: 0, root: other }, signer: w.deps.signer },
    })
    const signed = (await allRuns(w)).map(({ signature }) => signature !== null)
    expect(signed).toEqual([false, true])
  })
})

promise`N4`
describe('a log that was signed further than it is stored', () => {
  /** As the file of a data folder knows it. */
  const knownTo = (size: number, timestamp: number) => ({
    path: 'heads.json',
    heads: [{ issuer: origin, size, root: other, timestamp, signature: new Uint8Array(65) }],
    keep: async () => {},
  })
  const reopenBeyond = (size: number, timestamp = Date.now()) =>
    reopenLog({ ...deps(), headFile: knownTo(size, timestamp) }, { reason: 'a test' })

  test('is signed as it is stored, and named by that', async () => {
    await addLeaves(3)
    const now = await headNow()
    const { head, last, lost } = await reopenBeyond(50)
    expect([head, last]).toMatchObject([now, now])
    expect([await lastSigned(), lost?.size]).toEqual([now.size, 50])
  })

  test('is not signed where it has as many leaves or more: some of them came later', async () => {
    await addLeaves(3)
    const { head, lost } = await reopenBeyond(await sizeNow())
    expect([head.size, lost?.size, await lastSigned()]).toEqual([0, 4, undefined])
  })

  test('is not signed where something was signed later than the head that it lacks', async () => {
    await addLeaves(3)
    const size = await sizeNow()
    const { root } = await headNow()
    const signature = new Uint8Array(65)
    await w.deps.checkpoints.add({ issuer: origin, size, root, timestamp: 60_000, signature })
    await addLeaves(2)
    const { last } = await reopenBeyond(50, 1)
    expect([last.size, await lastSigned()]).toEqual([size, size])
  })

  test('keeps what waits for a number for the next log, where its receipt is valid', async () => {
    const { secret: key } = await w.key({ balance: 10n ** 9n })
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    const ran = await (await w.call('/v1/runs', { key, json })).json()
    const first = await lastEnded(w)
    expect(ran.receipt.id).toBe(`rcpt_${first.id.slice('run_'.length)}`)
    const waits = { ...first, id: `${first.id.slice(0, -4)}zzzz`, cost: 0n }
    await w.db.write(() => insertEnded(w.db, [waits]))
    const size = await sizeNow()
    await reopenBeyond(50)
    expect(await lastSigned()).toBe(size)
    expect((await w.deps.runs.find(first.id))?.issuer).toBe(origin)
    const run = await w.deps.runs.find(waits.id)
    expect([run?.issuer, run?.logPlace]).toEqual([`${origin}#2`, size + 2])
    if (!run || !isEnded(run)) throw new Error('no receipt')
    expect(receiptOf(run).issuer).toBe(`${origin}#2`)
    expect((await readWholeLogs(w.db)).faults).toEqual([])
  })
})
