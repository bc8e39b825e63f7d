import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { KeyRow } from '../../src/db/schema.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import { changeKey } from '../../src/keys/change.ts'
import {
  assertAddressAllowed,
  assertModelAllowed,
  assertScope,
  assertUsable,
  type Chain,
  scopes,
} from '../../src/keys/key.ts'
import { faultsOf, newAccount, openOffice, pictureOf } from '../ledger/office.ts'
import { engines } from '../support/world.ts'

const day = 86_400_000
const globs = ['a*', 'ab*', 'b/*', 'b/c', '*', 'c', 'a*c']
const models = ['a', 'ab', 'abc', 'b/', 'b/c', 'b', 'c']
const networks = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '0.0.0.0/0', '2001:db8::/32', '::/0']
const addresses = [
  '10.1.2.3',
  '10.1.2.4',
  '10.9.9.9',
  '192.0.2.1',
  '2001:db8::1',
  '::ffff:10.1.2.3',
]

/** One step in the life of a tree; numbers pick keys modulo how many there are. */
const rights = fc.record(
  {
    capLimit: fc.bigInt({ min: 1n, max: 1000n }),
    days: fc.integer({ min: 1, max: 100 }),
    scopes: fc.subarray([...scopes]),
    models: fc.subarray(globs),
    ipCidrs: fc.subarray(networks),
  },
  { requiredKeys: [] },
)
const at = fc.nat(1000)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('mint' as const), at, rights }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('change' as const), at, rights }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      at,
      hold: fc.bigInt({ min: 1n, max: 300n }),
      part: fc.integer({ min: 0, max: 100 }),
    }),
  },
)

const allows = (decide: () => void): boolean => {
  try {
    decide()
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** All that a chain may do, as what uses it asks. */
const rightsOf = (chain: Chain, now: number): string[] => [
  ...(allows(() => assertUsable(chain, now)) ? ['use'] : []),
  ...scopes.filter((scope) => allows(() => assertScope(chain, scope))),
  ...models.filter((model) => allows(() => assertModelAllowed(chain, model))),
  ...addresses.filter((address) => allows(() => assertAddressAllowed(chain, () => address))),
]

describe.each(engines)('random key trees on %s', (engine) => {
  let office: Awaited<ReturnType<typeof openOffice>>
  beforeAll(async () => {
    office = await openOffice(engine)
  }, 30_000)
  afterAll(() => office.close())

  type Steps = (typeof step extends fc.Arbitrary<infer T> ? T : never)[]
  const seen = { mint: 0, change: 0, run: 0, refused: 0 }

  /** Does what is asked; a refusal is an answer too. */
  const grow = async (account: string, steps: Steps) => {
    const now = office.clock.now()
    const tree = [await office.key({ account, capLimit: 1000n, scopes: [...scopes] })]
    for (const one of steps) {
      const key = tree[one.at % tree.length]
      if (!key) continue
      try {
        if (one.kind === 'run') {
          const run = await office.hold(key, one.hold)
          if (one.part < 90) await office.end(run, (one.hold * BigInt(one.part)) / 100n)
        } else {
          const { days, ...rest } = one.rights
          const wish = { ...rest, ...(days ? { expiresAt: now + days * day } : {}) }
          if (one.kind === 'mint') {
            tree.push(await office.key({ account, parentId: key.id, capLimit: 10n, ...wish }))
          } else await changeKey(office, { keyId: key.id, actor: 'test', change: wish })
        }
        seen[one.kind]++
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        seen.refused++
      }
    }
  }

  test('no key ever has a right that a key above it lacks, nor spends beyond any cap', async () => {
    const runs = engine === 'sqlite' ? 60 : 12
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      async (steps) => {
        const account = newAccount()
        await office.grant(account, 100_000n)
        await grow(account, steps)
        const picture = await pictureOf(office.db)
        expect(faultsOf(picture)).toEqual([])
        const tree = new Map(
          picture.keys.filter((key) => key.accountId === account).map((key) => [key.id, key]),
        )
        const spentBelow = new Map<string, bigint>()
        for (const run of picture.runs.filter((run) => run.accountId === account)) {
          const taken = run.finishedAt === null ? run.hold : run.cost
          // By the tree as it is, not by what the ledger wrote down of it.
          for (const id of tree.get(run.keyId)?.lineage ?? []) {
            spentBelow.set(id, (spentBelow.get(id) ?? 0n) + taken)
          }
        }
        for (const key of tree.values()) {
          expect((spentBelow.get(key.id) ?? 0n) <= key.capLimit).toBe(true)
          const chain = key.lineage.flatMap((id) => tree.get(id) ?? []) as KeyRow[]
          for (const now of [office.clock.now(), office.clock.now() + 50 * day]) {
            const own = rightsOf(chain, now)
            for (let depth = 1; depth < chain.length; depth++) {
              const above = rightsOf(chain.slice(depth), now)
              expect(own.filter((right) => !above.includes(right))).toEqual([])
            }
          }
        }
      },
    )
    await fc.assert(property, { seed: 4663, numRuns: runs })
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10)
  }, 120_000)
})

describe('a list of networks', () => {
  const chainOf = (...lists: string[][]) =>
    lists.map((ipCidrs) => ({ ipCidrs })) as unknown as Chain
  const cases: [lists: string[][], address: string, allowed: boolean][] = [
    [[[]], '192.0.2.1', true],
    [[['192.0.2.1']], '192.0.2.1', true],
    [[['192.0.2.1']], '192.0.2.2', false],
    [[['192.0.2.0/24', '::1']], '192.0.2.200', true],
    [[['192.0.2.0/24']], '::ffff:192.0.2.9', true],
    [[['192.0.2.0/24']], '::192.0.2.9', false],
    [[['2001:db8::/32']], '2001:db8:ffff::1', true],
    [[['2001:db8::/32']], '2001:db9::1', false],
    [[['0.0.0.0/0']], '::1', false],
    [[[], ['10.0.0.0/8']], '192.0.2.1', false],
    [[['10.0.0.0/8'], ['10.1.0.0/16']], '10.2.0.1', false],
    [[['10.0.0.0/8']], 'unknown', false],
    [[['10.0.0.0/8']], '', false],
  ]
  test.each(cases)('%j allows %s: %p', (lists, address, allowed) => {
    expect(allows(() => assertAddressAllowed(chainOf(...lists), () => address))).toBe(allowed)
  })
})
