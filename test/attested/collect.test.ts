import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/runs.ts'
import { type SigningUpstream, signingUpstream, upstreamKey } from '../support/signing-upstream.ts'
import { engines, type World } from '../support/world.ts'
import { ask, collect, payer, rowOf, signedWorld } from './attested.ts'

describe.each(engines)('evidence of an upstream (%s)', (engine) => {
  let upstream: SigningUpstream
  let w: World
  let key: string

  beforeAll(async () => {
    upstream = await signingUpstream()
    w = await signedWorld(upstream.url, engine)
    key = await payer(w)
  })
  afterEach(() => upstream.answerBy(undefined))
  afterAll(async () => {
    await w.stop()
    upstream.stop()
  })

  test.each([{}, { stream: true }])(
    'An answer that the pinned key signed is attested: %p',
    async (more) => {
      const { runId } = await ask(w, key, more)
      await until('the hash of the answer', async () => (await rowOf(w, runId)).answerHash !== null)
      await collect(w)
      const row = await rowOf(w, runId)
      expect([row.state, row.reason]).toEqual(['attested', null])
      expect(row.key).toBe(upstreamKey.address.toLowerCase())
      expect(row.logPlace).not.toBeNull()
    },
  )
})
