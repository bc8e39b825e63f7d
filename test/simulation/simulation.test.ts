import { describe, expect, test } from 'bun:test'
import { nightly } from '../support/nightly.ts'
import { fault, promise } from '../support/promise.ts'
import { engines } from '../support/world.ts'
import { simulate } from './simulate.ts'

/** Seeds that are played each time; `bun run drill simulate` plays a hundred, and longer. */
const seedsOf = {
  sqlite: nightly([1, 7], [1, 2, 7, 21, 22, 23, 24, 25, 26, 27, 28]),
  pglite: [3],
  postgres: nightly([4], [4, 31, 32, 33]),
}
const commandsOf = { sqlite: 600, pglite: 30, postgres: nightly(60, 300) }

/** A simulation that never got anywhere would prove nothing: what must come in so many. */
const mustCome = [
  'begin: ok',
  'begin: cap_exceeded',
  'chunk: ok',
  'end: ok',
  'fail: upstream_error',
  'client_gone: conflict',
  'hang up: ok',
  'end: conflict',
  'mint: ok',
  'look: ok',
  'reorg: ok',
  'redeem: ok',
  'redeem: conflict',
  'refund: ok',
  'refund: conflict',
  'subscribe: ok',
  'call: ok',
  'prove: passes',
  'told run.ended: ok',
  'told balance.low: ok',
  'told balance.exhausted: ok',
  'begin quoted: ok',
  'begin quoted: gone',
  'store old: ok',
  'kill: killed before',
  'kill: killed after',
]

describe.each(engines)('the whole service on %s', (engine) => {
  promise`A10`
  promise`D1`
  promise`D7`
  promise`E17 H: An event exists exactly if its cause was committed.`
  fault`23: the clock jumps by an hour, ahead and back → durations are right, nothing ends by the
    jump alone, and no key comes back [faults clock, simulate]`
  test(
    'The service matches the model after every command, crash, loss and clock jump.',
    async () => {
      const seen = new Set<string>()
      for (const seed of seedsOf[engine]) {
        const some = await simulate({ engine, seed, commands: commandsOf[engine] })
        for (const what of some.seen.keys()) seen.add(what)
      }
      const must = engine === 'sqlite' ? mustCome : ['begin: ok', 'end: ok']
      expect(must.filter((what) => !seen.has(what))).toEqual([])
    },
    nightly(300_000, 1_800_000),
  )
})

test('a seed is one story: played again it is the same, command by command', async () => {
  const one = { engine: 'sqlite', seed: 7, commands: 80 } as const
  expect(await simulate(one)).toEqual(await simulate(one))
}, 120_000)
