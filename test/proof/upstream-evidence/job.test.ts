import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { LostLease } from '../../../src/kernel/lost-lease.ts'
import { evidenceCollector } from '../../../src/proof/upstream-evidence/collect-evidence.ts'
import { answeredRow } from '../../../src/proof/upstream-evidence/evidence-rows.ts'
import { upstreamEvidenceStore } from '../../../src/proof/upstream-evidence/store.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { type SigningUpstream, signingUpstream } from '../../support/signing-upstream.ts'
import { engines, type World } from '../../support/world.ts'
import { ask, collect, payer, rowOf, signedWorld } from './evidence-world.ts'

describe.each(engines)('the job that asks upstreams for evidence, on %s', (engine) => {
  let upstream: SigningUpstream
  let w: World
  let key: string

  beforeAll(async () => {
    upstream = await signingUpstream()
    w = await signedWorld(upstream.url, engine)
    key = await payer(w)
  })
  afterEach(() => {
    upstream.answerBy(undefined)
    upstream.breakOff(false)
  })
  afterAll(async () => {
    await w.stop()
    upstream.stop()
  })

  const stateOf = async (runId: string) => {
    const { state, reason, tries } = await rowOf(w, runId)
    return [state as string, reason as string | null, tries]
  }
  const pathOf = (id: string) => `/v1/receipts/${id}/proof?format=evidence`
  /** The store of another node. */
  const elsewhere = () =>
    upstreamEvidenceStore(w.db, w.deps.logStore, { clock: w.deps.leaseClock, node: 'elsewhere' })
  const setRun = (runId: string, issuer: string) =>
    w.db.write(function* (q) {
      const { runs } = w.db.tables
      yield* rows(
        q.update(runs).set({ issuer }).where(eq(runs.id, runId)).returning({ id: runs.id }),
      )
    })

  test('A run whose stream broke off has no row.', async () => {
    upstream.breakOff(true)
    const json = { model: 'signed/good', messages: [{ role: 'user', content: 'x' }], stream: true }
    await (await w.call('/v1/chat/completions', { key, json })).text()
    const [{ id, run_id: runId }] = (await (await w.call('/v1/receipts?limit=1', { key })).json())
      .data
    expect(await w.deps.upstreamEvidence.find(runId)).toBeUndefined()
    const answer = await w.call(pathOf(id), { key })
    const { error } = await answer.json()
    expect([answer.status, error.type, error.metadata]).toEqual([404, 'not_found', undefined])
  })

  test('A process that is told to end asks nothing and writes nothing.', async () => {
    const { runId } = await ask(w, key)
    const before = upstream.asked.length
    await evidenceCollector(w.deps)(AbortSignal.abort())
    expect([await stateOf(runId), upstream.asked.length]).toEqual([['waiting', null, 0], before])
    await collect(w)
    expect(await stateOf(runId)).toEqual(['attested', null, 0])
  })

  test('A process that is told to end while it asks writes nothing either.', async () => {
    const { runId } = await ask(w, key)
    const ending = new AbortController()
    upstream.answerBy((response) => {
      ending.abort()
      response.statusCode = 404
      response.end('{}')
    })
    await evidenceCollector(w.deps)(ending.signal)
    expect(await stateOf(runId)).toEqual(['waiting', null, 0])
    upstream.answerBy(undefined)
    await collect(w)
  })

  test('Tries are counted, those that end it too.', async () => {
    const { runId } = await ask(w, key)
    upstream.answerBy((response) => {
      response.statusCode = 404
      response.end('{}')
    })
    await collect(w)
    expect(await stateOf(runId)).toEqual(['waiting', 'not_found', 1])
    upstream.answerBy((response) => response.end('{}'))
    w.advance(1000)
    await collect(w)
    expect(await stateOf(runId)).toEqual(['refused', 'unreadable', 2])
  })

  test('The metrics count what came of each run, and no try in between.', async () => {
    const counted = () => {
      const family = w.deps.meters
        .families()
        .find(({ name }) => name === 'counterfoil_upstream_evidence_total')
      return JSON.stringify(family)
    }
    const { runId } = await ask(w, key)
    const before = counted()
    upstream.answerBy((response) => {
      response.statusCode = 404
      response.end('{}')
    })
    await collect(w)
    expect(counted()).toBe(before)
    upstream.answerBy(undefined)
    w.advance(1000)
    await collect(w)
    expect((await stateOf(runId))[0]).toBe('attested')
    expect(counted()).not.toBe(before)
    expect(counted()).not.toContain('waiting')
  })

  // SQLite has one process, which takes the lease of the one before.
  test.skipIf(engine === 'sqlite')('A node without the lease asks nothing.', async () => {
    const { runId } = await ask(w, key)
    w.advance(11_000)
    expect(await elsewhere().takeLease()).toBeDefined()
    const before = upstream.asked.length
    await collect(w)
    expect([await stateOf(runId), upstream.asked.length]).toEqual([['waiting', null, 0], before])
    w.advance(11_000)
    await collect(w)
    expect((await stateOf(runId))[0]).toBe('attested')
  })

  test('A node that lost the lease stores nothing.', async () => {
    const { runId } = await ask(w, key)
    const store = w.deps.upstreamEvidence
    const lease = await store.takeLease()
    if (!lease) throw new Error('no lease')
    w.advance(11_000)
    expect(await elsewhere().takeLease()).toBeDefined()
    const tried = { runId, state: 'none', reason: 'failed', tries: 1, dueAt: null } as const
    const logged = { document: 'x', key: 'x', checkedAt: 1, salt: new Uint8Array(32) }
    const all = { ...logged, runId, digest: new Uint8Array(32) }
    await w.deps.sequencer.flush()
    const size = await w.deps.logStore.size()
    expect(await rejectionOf(store.note(lease, [tried]))).toBeInstanceOf(LostLease)
    expect(await rejectionOf(store.add(lease, [all]))).toBeInstanceOf(LostLease)
    expect([await stateOf(runId), await w.deps.logStore.size()]).toEqual([
      ['waiting', null, 0],
      size,
    ])
    w.advance(11_000)
    await collect(w)
  })

  test('What is final is not written again, and no other run is written.', async () => {
    const { runId } = await ask(w, key)
    await collect(w)
    const { runId: other } = await ask(w, key)
    const store = w.deps.upstreamEvidence
    const before = [await rowOf(w, runId), await rowOf(w, other)]
    await store.noteAnswer(runId, answeredRow(undefined, 1))
    await store.noteAnswer('run_none', answeredRow(undefined, 1))
    const lease = await store.takeLease()
    if (!lease) throw new Error('no lease')
    await store.note(lease, [{ runId, state: 'none', reason: 'failed', tries: 9, dueAt: null }])
    await w.deps.sequencer.flush()
    const size = await w.deps.logStore.size()
    const leaf = { document: 'x', key: 'x', checkedAt: 1, salt: new Uint8Array(32) }
    await store.add(lease, [{ ...leaf, runId, digest: new Uint8Array(32) }])
    await store.add(lease, [])
    expect(await w.deps.logStore.size()).toBe(size)
    expect([await rowOf(w, runId), await rowOf(w, other)]).toEqual(before)
    await collect(w)
  })

  test('A run of a log that was abandoned meanwhile has no evidence.', async () => {
    const { runId } = await ask(w, key)
    await setRun(runId, 'https://old.example')
    await collect(w)
    expect(await stateOf(runId)).toEqual(['none', 'reopened', 1])
    await setRun(runId, w.deps.settings.issuer)
  })

  test('A leaf of a receipt that was issued again is not shown as its evidence.', async () => {
    const { runId, receiptId } = await ask(w, key)
    await collect(w)
    expect((await w.call(pathOf(receiptId), { key })).status).toBe(200)
    await w.db.write(function* (q) {
      const table = w.db.tables.upstreamEvidence
      const set = { digest: new Uint8Array(32) }
      yield* rows(
        q.update(table).set(set).where(eq(table.runId, runId)).returning({ id: table.runId }),
      )
    })
    const answer = await w.call(pathOf(receiptId), { key })
    expect([answer.status, (await answer.json()).error.metadata]).toEqual([
      404,
      { state: 'attested', reason: null },
    ])
  })

  test('How many wait is counted.', async () => {
    const before = await w.deps.upstreamEvidence.waiting()
    await ask(w, key)
    await ask(w, key)
    expect(await w.deps.upstreamEvidence.waiting()).toBe(before + 2)
  })
})
