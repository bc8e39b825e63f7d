import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { changeKey } from '../../../src/access/keys/change.ts'
import {
  assertAddressAllowed,
  assertModelAllowed,
  assertScope,
  assertUsable,
  type Chain,
  scopes,
} from '../../../src/access/keys/key.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { capWindows, windowStart } from '../../../src/ledger/window.ts'
import type { KeyRow, RunRow } from '../../../src/storage/db/schema/schema.ts'
import { faultsOf, newAccount, openOffice, pictureOf } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'

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

/** Steps in the life of a tree, some at once; numbers pick keys modulo how many there are. */
const rights = fc.record(
  {
    capLimit: fc.bigInt({ min: 1n, max: 1000n }),
    capWindow: fc.constantFrom(...capWindows),
    days: fc.integer({ min: 1, max: 100 }),
    scopes: fc.subarray([...scopes]),
    models: fc.subarray(globs),
    ipCidrs: fc.subarray(networks),
  },
  { requiredKeys: [] },
)
const at = fc.nat(1000)
const state = fc.constantFrom('pause' as const, 'resume' as const, 'revoke' as const)
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
  { weight: 3, arbitrary: fc.record({ kind: state, at }) },
)
const life = fc.array(
  fc.record({
    /** Before them, time passes. */
    hours: fc.constantFrom(0, 0, 0, 5, 30, 200),
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  }),
  { minLength: 5, maxLength: 12 },
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

  type Life = (typeof life extends fc.Arbitrary<infer T> ? T : never)[number]
  type Step = Life['steps'][number]
  const seen = { mint: 0, change: 0, run: 0, pause: 0, resume: 0, revoke: 0, refused: 0 }
  const actor = 'test'

  const doStep = async (tree: KeyRow[], key: KeyRow, one: Step): Promise<void> => {
    const keyId = key.id
    if (one.kind === 'run') {
      const run = await office.hold(key, one.hold)
      if (one.part < 90) await office.end(run, (one.hold * BigInt(one.part)) / 100n)
    } else if (one.kind === 'mint') {
      const { days, ...rest } = one.rights
      const expiresAt = days ? { expiresAt: office.clock.now() + days * day } : {}
      const wish = { account: key.accountId, parentId: keyId, capLimit: 10n }
      tree.push(await office.key({ ...wish, ...rest, ...expiresAt }))
    } else if (one.kind === 'change') {
      const { days, capWindow: _, ...rest } = one.rights
      const expiresAt = days ? { expiresAt: office.clock.now() + days * day } : {}
      await changeKey(office, { keyId, actor, change: { ...rest, ...expiresAt } })
    } else if (one.kind === 'pause') await pauseKey(office, { keyId, actor })
    else if (one.kind === 'resume') await resumeKey(office, { keyId, actor })
    // The root lives, or there is soon nothing left to try.
    else if (key.parentId !== null) await office.revoke(key)
  }

  /** Does what is asked, the steps of a moment at once; a refusal is an answer too. */
  const grow = async (account: string, moments: Life[]) => {
    const expiresAt = office.clock.now() + 300 * day
    const wish = { account, capLimit: 1000n, scopes: [...scopes], expiresAt }
    const tree = [await office.key(wish)]
    for (const { hours, steps } of moments) {
      office.clock.set(office.clock.now() + hours * 3_600_000)
      const keys = steps.map(({ at }) => tree[at % tree.length])
      const done = await Promise.allSettled(
        steps.map((one, i) => doStep(tree, keys[i] as KeyRow, one)),
      )
      for (const [i, { status, ...more }] of done.entries()) {
        const { kind } = steps[i] as Step
        if (status === 'fulfilled') seen[kind]++
        else if ('reason' in more && !(more.reason instanceof Refusal)) throw more.reason
        else seen.refused++
      }
    }
  }

  /** The limit of a past window does not limit the current cap. */
  const isOfPast = (fault: string): boolean => fault.startsWith('window ') && / limit /.test(fault)

  /** By the tree as it is, not by what the ledger wrote down of it. */
  const spentIn = (tree: Map<string, KeyRow>, runs: RunRow[]) => {
    const spent = new Map<string, { key: KeyRow; sum: bigint }>()
    for (const run of runs) {
      const taken = run.finishedAt === null ? run.hold : run.cost
      for (const id of tree.get(run.keyId)?.lineage ?? []) {
        const key = tree.get(id) as KeyRow
        const window = windowStart(key.capWindow, run.createdAt)
        // A cap that was lowered later binds the present window and those to come.
        if (window !== windowStart(key.capWindow, office.clock.now())) continue
        spent.set(id, { key, sum: (spent.get(id)?.sum ?? 0n) + taken })
      }
    }
    return [...spent.values()]
  }

  promise`A9`
  test('no key ever has a right that a key above it lacks, nor spends beyond any cap', async () => {
    const runs = engine === 'sqlite' ? 60 : 12
    const property = fc.asyncProperty(life, async (moments) => {
      const account = newAccount()
      await office.grant(account, 100_000n)
      await grow(account, moments)
      const picture = await pictureOf(office.db)
      expect(faultsOf(picture).filter((fault) => !isOfPast(fault))).toEqual([])
      const mine = ({ accountId }: { accountId: string }) => accountId === account
      const tree = new Map(picture.keys.filter(mine).map((key) => [key.id, key]))
      const spent = spentIn(tree, picture.runs.filter(mine))
      expect(spent.filter(({ key, sum }) => sum > key.capLimit)).toEqual([])
      for (const key of tree.values()) {
        const chain = key.lineage.flatMap((id) => tree.get(id) ?? []) as KeyRow[] as Chain
        for (const now of [office.clock.now(), office.clock.now() + 50 * day]) {
          const own = rightsOf(chain, now)
          for (let depth = 1; depth < chain.length; depth++) {
            const above = rightsOf(chain.slice(depth) as KeyRow[] as Chain, now)
            expect(own.filter((right) => !above.includes(right))).toEqual([])
          }
        }
        // Below a revoked key each is revoked itself, also what was minted beside the revocation.
        if (chain.some(({ revokedAt }) => revokedAt !== null)) expect(key.revokedAt).not.toBeNull()
      }
    })
    await fc.assert(property, { seed: 4663, numRuns: runs })
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
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
  test.each(cases)('The networks %j allow %s: %p.', (lists, address, allowed) => {
    expect(allows(() => assertAddressAllowed(chainOf(...lists), () => address))).toBe(allowed)
  })
})
