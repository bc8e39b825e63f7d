import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chatBefore, nameOf, type Pair, pairs, wiredToml } from '../../support/doors.ts'
import { promise } from '../../support/promise.ts'
import { allRuns, expectSettled, moneyOf } from '../../support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

// Two hundred at once take their time on a busy machine.
setDefaultTimeout(60_000)

const atOnce = pairs.flatMap((pair) =>
  [false, true].map((stream): [number, string, boolean, Pair] => [
    pair === chatBefore ? 200 : 40,
    nameOf(pair),
    stream,
    pair,
  ]),
)

describe.each(engines)('one call many times, on %s', (engine) => {
  let w: World
  let stub: StubUpstream
  let secret: string
  beforeAll(async () => {
    stub = await startStubUpstream()
    w = await world({ engine, toml: wiredToml(stub.url, ['normal']) })
    secret = (await w.key({ balance: 100n * usd })).secret
  }, 60_000)
  afterAll(async () => {
    await expectSettled(w)
    await w.stop()
    await stub.stop()
  })

  let count = 0
  const spent = async () => 100_000_000_000 - (await moneyOf(w, secret)).balance_nusd

  promise`D19 C: One Idempotency-Key is one effect, also across a crash.`
  promise`D32`
  test.each(atOnce)(
    '%i at once, %s, streamed: %p: one run, one charge',
    async (many, _, stream, { door, wire }) => {
      const headers = { 'idempotency-key': `call ${++count}` }
      const known = new Set((await allRuns(w)).map(({ id }) => id))
      const before = await spent()
      const ask = door.body({ model: `${wire}/normal`, text: 'x', stream })
      const answers = await Promise.all(
        Array.from({ length: many }, async () => {
          const answer = await w.call(door.path, { key: secret, json: ask, headers })
          return { status: answer.status, text: await answer.text(), headers: answer.headers }
        }),
      )
      const made = answers.filter(({ status, headers }) => {
        return status === 200 && !headers.has('idempotent-replayed')
      })
      expect([made.length, answers.find(({ status }) => status > 409)?.text]).toEqual([
        1,
        undefined,
      ])
      for (const { status, text, headers } of answers) {
        if (status === 200) expect(text).toBe(made[0]?.text ?? '')
        else expect([status, headers.get('retry-after')]).toEqual([409, '1'])
      }
      const after = (await allRuns(w)).filter(({ id }) => !known.has(id))
      expect(after).toHaveLength(1)
      expect((await spent()) - before).toBe(Number(after[0]?.cost))
      expect(after[0]?.cost).toBeGreaterThan(0n)
    },
  )
})
