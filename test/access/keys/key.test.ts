import { describe, expect, test } from 'bun:test'
import {
  assertModelAllowed,
  assertScope,
  assertUsable,
  type KeyStatus,
  matches,
  statusOf,
} from '../../../src/access/keys/key.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { prng } from '../../ledger/prng.ts'
import { plainKey } from '../../support/plain-key.ts'
import { promise } from '../../support/promise.ts'

const now = Date.UTC(2026, 5, 1)

const key = (state: Partial<KeyRow> = {}): KeyRow => ({
  id: 'key',
  accountId: '0x',
  parentId: null,
  lineage: ['key'],
  name: 'test',
  fingerprint: '',
  capLimit: 1n,
  capWindow: 'lifetime',
  ...plainKey,
  createdAt: now - 1,
  expiresAt: now + 1,
  ...state,
})

const states: Record<string, Partial<KeyRow>> = {
  fine: {},
  paused: { pausedAt: now - 1 },
  expired: { expiresAt: now },
  revoked: { revokedAt: now - 1 },
}
/** The strongest state first: one of it anywhere in the chain decides. */
const precedence: [state: string, status: KeyStatus, refusal: string | undefined][] = [
  ['revoked', 'revoked', 'key_revoked'],
  ['expired', 'expired', 'key_expired'],
  ['paused', 'paused', 'key_paused'],
  ['fine', 'usable', undefined],
]

describe('the status of a chain', () => {
  test('is revoked before expired before paused, over every chain of depth 5', () => {
    const names = Object.keys(states)
    let chains = 0
    for (let number = 0; number < names.length ** 5; number++) {
      const picked = Array.from(
        { length: 5 },
        (_, at) => names[Math.floor(number / names.length ** at) % names.length] ?? '',
      )
      const chain = picked.map((name) => key(states[name]))
      const [, status, refusal] = precedence.find(([state]) => picked.includes(state)) ?? []
      expect({ picked, is: statusOf(chain, now) as string }).toEqual({ picked, is: String(status) })
      expect({ picked, no: refusalOf(() => assertUsable(chain, now)) }).toEqual({
        picked,
        no: refusal,
      })
      chains++
    }
    expect(chains).toBe(1024)
  })

  test('of one key in several states at once is the strongest', () => {
    const all = { ...states['paused'], ...states['expired'], ...states['revoked'] }
    expect(statusOf([key(all)], now)).toBe('revoked')
    expect(statusOf([key({ ...all, revokedAt: null })], now)).toBe('expired')
  })

  promise`A4 H: A key is expired exactly from its moment on, in every time zone.`
  test('is expired exactly from expires_at on', () => {
    const expiresAt = now + 90 * 86_400_000
    const at = (time: number) => statusOf([key({ expiresAt: now * 2 }), key({ expiresAt })], time)
    expect([at(expiresAt - 1), at(expiresAt), at(expiresAt + 1)]).toEqual([
      'usable',
      'expired',
      'expired',
    ])
  })
})

describe('the rights of a chain', () => {
  test('are a scope only where every key carries it', () => {
    const both = key({ scopes: ['runs:write', 'runs:read'] })
    expect(refusalOf(() => assertScope([both, both], 'runs:read'))).toBeUndefined()
    expect(refusalOf(() => assertScope([both, key()], 'runs:read'))).toBe('scope_denied')
    expect(refusalOf(() => assertScope([key(), both], 'runs:read'))).toBe('scope_denied')
  })

  test('are a model only where every key allows it; an empty list allows all', () => {
    const acme = key({ models: ['acme/*'] })
    const one = key({ models: ['acme/one', 'other/one'] })
    const may = (model: string) => refusalOf(() => assertModelAllowed([one, acme, key()], model))
    expect(may('acme/one')).toBeUndefined()
    expect(may('acme/two')).toBe('model_not_allowed')
    expect(may('other/one')).toBe('model_not_allowed')
  })
})

describe('a glob', () => {
  test.each([
    ['acme/*', 'acme/', true],
    ['acme/*', 'acme/one/two', true],
    ['acme/*', 'acme', false],
    ['acme/*', 'xacme/one', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['', '', true],
    ['', 'a', false],
    ['one', 'one', true],
    ['one', 'One', false],
    ['*mini', 'gpt-mini', true],
    ['*mini', 'gpt-mini-2', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'acb', false],
    ['*b*b', 'ab', false],
    ['a**c', 'ac', true],
    // Nothing but the star is special.
    ['a.c', 'abc', false],
    ['a?c', 'abc', false],
    ['[ab]', 'a', false],
    ['a+', 'aa', false],
    ['a$', 'a', false],
    ['^a', 'a', false],
  ] as const)('The glob %j on the model %j gives %p.', (glob, model, expected) => {
    expect(matches(glob, model)).toBe(expected)
  })

  test('agrees with a regular expression on 20,000 short random pairs', () => {
    const random = prng(7)
    const word = (letters: string) =>
      Array.from({ length: random.below(7) }, () => random.pick([...letters])).join('')
    for (let i = 0; i < 20_000; i++) {
      const [glob, model] = [word('ab**'), word('ab')]
      const expected = new RegExp(`^${glob.replace(/\*+/g, '.*')}$`).test(model)
      expect({ glob, model, is: matches(glob, model) }).toEqual({ glob, model, is: expected })
    }
  })

  promise`J8`
  test('is decided in time linear in its length', () => {
    const size = 100_000
    const hostile: [glob: string, model: string, expected: boolean][] = [
      [`*${'a'.repeat(size / 2)}b*`, 'a'.repeat(size), false],
      [`*${'ab'.repeat(size / 4)}ba*`, 'ab'.repeat(size / 2), false],
      [`${'*a'.repeat(size / 2)}*b`, 'a'.repeat(size), false],
      ['*'.repeat(size), 'a'.repeat(size), true],
      [`${'a*'.repeat(size / 2)}`, `${'ab'.repeat(size / 2)}`, true],
    ]
    for (const [glob, model, expected] of hostile) {
      // Milliseconds of CPU, where squared it would be seconds; the best of three.
      const times = [0, 1, 2].map(() => {
        const from = process.cpuUsage()
        expect(matches(glob, model)).toBe(expected)
        const { user, system } = process.cpuUsage(from)
        return (user + system) / 1000
      })
      expect(Math.min(...times)).toBeLessThan(250)
    }
  })
})

function refusalOf(ask: () => void): string | undefined {
  try {
    ask()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.type
    throw error
  }
}
