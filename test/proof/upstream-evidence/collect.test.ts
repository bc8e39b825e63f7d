import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ServerResponse } from 'node:http'
import { promise } from '../../support/promise.ts'
import { allRuns, moneyOf, until } from '../../support/runs.ts'
import {
  otherKey,
  type Seen,
  type SigningUpstream,
  signedBy,
  signingUpstream,
  upstreamKey,
} from '../../support/signing-upstream.ts'
import { engines, type World } from '../../support/world.ts'
import { ask, collect, payer, rowOf, signedWorld } from './evidence-world.ts'

const json = (response: ServerResponse, value: unknown) => response.end(JSON.stringify(value))
const status = (code: number) => (response: ServerResponse) => {
  response.statusCode = code
  response.end('{}')
}

describe.each(engines)('evidence of an upstream (%s)', (engine) => {
  let upstream: SigningUpstream
  let w: World
  let key: string

  beforeAll(async () => {
    upstream = await signingUpstream()
    w = await signedWorld(upstream.url, engine, [upstreamKey.address])
    key = await payer(w)
  })
  afterEach(() => {
    upstream.answerBy(undefined)
    upstream.pause(0)
  })
  afterAll(async () => {
    await w.stop()
    upstream.stop()
  })

  /** A run whose evidence is due. */
  const run = async (more: object = {}) => {
    const { runId, receiptId } = await ask(w, key, more)
    await until('the hash of the answer', async () => (await rowOf(w, runId)).answerHash !== null)
    return { runId, receiptId }
  }
  const outcome = async (runId: string) => {
    const { state, reason } = await rowOf(w, runId)
    return [state as string, reason as string | null]
  }

  promise`E24 C: Evidence of an upstream counts only if a pinned key signed the very bytes that were
    sent and received; a lying, failing or slow upstream costs a run neither time nor money.`
  test.each([{}, { stream: true }])(
    'An answer that the pinned key signed is attested: %p',
    async (more) => {
      const { runId } = await run(more)
      await collect(w)
      expect(await outcome(runId)).toEqual(['attested', null])
      const { key: signer, logPlace, dueAt, answerId } = await rowOf(w, runId)
      expect([signer, dueAt, answerId]).toEqual([upstreamKey.address.toLowerCase(), null, null])
      expect(logPlace).not.toBeNull()
    },
  )

  test('The end of a stream is hashed also when it comes after the run ended.', async () => {
    upstream.pause(50)
    const { runId } = await ask(w, key, { stream: true })
    await until('the hash of the answer', async () => (await rowOf(w, runId)).answerHash !== null)
    await collect(w)
    expect(await outcome(runId)).toEqual(['attested', null])
  })

  test('A stream whose end does not come has no evidence.', async () => {
    upstream.pause(5000)
    const { runId } = await ask(w, key, { stream: true })
    await until('the end', async () => (await rowOf(w, runId)).state === 'none')
    expect(await outcome(runId)).toEqual(['none', 'not_whole'])
  })

  promise`E24`
  test.each([
    ['another key', 'unknown_key', (seen: Seen) => signedBy(otherKey, upstream.textOf(seen))],
    [
      'a false name of the signer',
      'bad_signature',
      async (seen: Seen) => ({
        ...(await signedBy(otherKey, upstream.textOf(seen))),
        signing_address: upstreamKey.address,
      }),
    ],
    [
      'another answer',
      'wrong_hashes',
      (seen: Seen) => signedBy(upstreamKey, `good:${seen.request}:${seen.request}`),
    ],
    [
      'another request',
      'wrong_hashes',
      (seen: Seen) => signedBy(upstreamKey, `good:${seen.answer}:${seen.answer}`),
    ],
    [
      'another model',
      'wrong_model',
      (seen: Seen) => signedBy(upstreamKey, `better:${seen.request}:${seen.answer}`),
    ],
    ['something else', 'unreadable', () => ({ error: 'no' })],
    ['more than a signature', 'too_large', () => ({ text: 'x'.repeat(100_000) })],
  ] as const)('An upstream that serves %s is refused at once: %s.', async (_, reason, make) => {
    upstream.answerBy(async (response, seen) => json(response, await make(seen as Seen)))
    const { runId } = await run()
    await collect(w)
    expect(await outcome(runId)).toEqual(['refused', reason])
    expect(w.logged.at(-1)).toEqual({
      event: 'upstream_evidence.refused',
      fields: { upstream: 'enclave', run_id: runId, reason },
    })
    const before = upstream.asked.length
    w.advance(3_600_000)
    await collect(w)
    expect(upstream.asked.length).toBe(before)
  })

  test('A text without the model is taken too.', async () => {
    upstream.answerBy(async (response, seen) =>
      json(response, await signedBy(upstreamKey, `${seen?.request}:${seen?.answer}`)),
    )
    const { runId } = await run()
    await collect(w)
    expect(await outcome(runId)).toEqual(['attested', null])
  })

  test('An upstream without a signature is asked again, each time later.', async () => {
    upstream.answerBy(status(404))
    const { runId } = await run()
    const tries: number[] = []
    for (let second = 0; second < 20; second++) {
      const before = upstream.asked.length
      await collect(w)
      if (upstream.asked.length > before) tries.push(second)
      w.advance(1000)
    }
    expect(tries).toEqual([0, 1, 3, 7, 15])
    expect(await outcome(runId)).toEqual(['waiting', 'not_found'])
    upstream.answerBy(undefined)
    w.advance(32_000)
    await collect(w)
    expect(await outcome(runId)).toEqual(['attested', null])
  })

  promise`E24`
  test.each([
    [500, 'failed'],
    [302, 'failed'],
    [401, 'failed'],
    [404, 'not_found'],
  ])('Half an hour of %d ends in the state "none": %s.', async (code, reason) => {
    upstream.answerBy(status(code))
    const { runId } = await run()
    await collect(w)
    expect(await outcome(runId)).toEqual(['waiting', reason])
    w.advance(1_800_001)
    const before = upstream.asked.length
    await collect(w)
    expect([await outcome(runId), upstream.asked.length - before]).toEqual([['none', reason], 0])
  })

  test('An upstream that breaks off is asked again.', async () => {
    upstream.answerBy((response) => response.socket?.destroy())
    const { runId } = await run()
    await collect(w)
    expect(await outcome(runId)).toEqual(['waiting', 'unreachable'])
    upstream.answerBy(undefined)
    w.advance(1000)
    await collect(w)
    expect(await outcome(runId)).toEqual(['attested', null])
  })

  test('A hundred runs are logged one after the other, each with a leaf of its own.', async () => {
    const before = await w.deps.logStore.size()
    const runs = await Promise.all(Array.from({ length: 100 }, () => run()))
    await collect(w)
    await collect(w)
    const rows = await Promise.all(runs.map(({ runId }) => rowOf(w, runId)))
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['attested']))
    expect(new Set(rows.map(({ logPlace }) => logPlace)).size).toBe(100)
    await w.deps.sequencer.flush()
    expect(await w.deps.logStore.size()).toBeGreaterThanOrEqual(before + 200)
  }, 20_000)

  promise`E24`
  test('Evidence costs nothing, and holds nothing back.', async () => {
    const before = await moneyOf(w, key)
    upstream.answerBy(() => {
      // It never answers.
    })
    await run()
    const [last] = (await allRuns(w)).slice(-1)
    const after = await moneyOf(w, key)
    expect(after.held_nusd).toBe(0)
    expect(before.balance_nusd - after.balance_nusd).toBe(Number(last?.cost))
  })
})
