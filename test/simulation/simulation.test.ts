import { describe, expect, test } from 'bun:test'
import { engines } from '../support/world.ts'
import { simulate } from './simulate.ts'

/** Seeds that are played each time; `bun run drill simulate` plays a hundred, and longer. */
const seedsOf = { sqlite: [1, 2], pglite: [3], postgres: [4] }
const commandsOf = { sqlite: 600, pglite: 30, postgres: 60 }

/** A simulation that never got anywhere would prove nothing: what must come in so many. */
const mustCome = [
  'begin: ok',
  'begin: cap_exceeded',
  'chunk: ok',
  'end: ok',
  'fail: upstream_error',
  'client_gone: conflict',
  'mint: ok',
  'look: ok',
  'reorg: ok',
  'subscribe: ok',
  'call: ok',
  'prove: passes',
  'kill: killed before',
  'kill: killed after',
]

describe.each(engines)('the whole service on %s', (engine) => {
  test('does what the model says after every command, whatever is killed, lost or set back', async () => {
    const seen = new Set<string>()
    for (const seed of seedsOf[engine]) {
      const some = await simulate({ engine, seed, commands: commandsOf[engine] })
      for (const what of some.seen.keys()) seen.add(what)
    }
    const must = engine === 'sqlite' ? mustCome : ['begin: ok', 'end: ok']
    expect(must.filter((what) => !seen.has(what))).toEqual([])
  }, 300_000)
})

test('a seed is one story: played again it is the same, command by command', async () => {
  const one = { engine: 'sqlite', seed: 7, commands: 80 } as const
  expect(await simulate(one)).toEqual(await simulate(one))
}, 120_000)
