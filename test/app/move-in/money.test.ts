import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Present } from '../../../src/cli/move-in/decide-moves.ts'
import type { SourceContents } from '../../../src/cli/move-in/found.ts'
import { nightly } from '../../support/nightly.ts'
import {
  account,
  applied,
  firstRun,
  key,
  litellm,
  newApi,
  nothing,
  secondRun,
  usd,
} from './plans.ts'

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((all, one) => all + one, 0n)
const bookedIn = ({ booked }: Present): bigint =>
  sum([...booked.values()].map(({ amount }) => amount))
const heldBy = ({ owners }: SourceContents): bigint =>
  sum(owners.map(({ balance }) => (balance > 0n ? balance : 0n)))

/** An owner there: a team with a budget, one without, or keys of no owner. */
type Owner = { budget: number | null; spend: number; blocked: boolean }
type Key = { owner: number; cap: number | null; member: boolean; blocked: boolean }
type Source = { owners: Map<number, Owner>; keys: Map<number, Key> }

/** The id of no owner. */
const none = 0

const read = ({ owners, keys }: Source): SourceContents =>
  litellm({
    LiteLLM_BudgetTable: [{ budget_id: 'm', max_budget: 3 }],
    LiteLLM_TeamTable: [...owners].map(([id, { budget, spend, blocked }]) => ({
      ...{ team_id: `t${id}`, max_budget: budget, spend, blocked },
    })),
    LiteLLM_TeamMembership: [...owners].map(([id]) => ({
      ...{ team_id: `t${id}`, user_id: 'u', budget_id: 'm', spend: 0 },
    })),
    LiteLLM_UserTable: [],
    LiteLLM_VerificationToken: [...keys].map(([n, { owner, cap, member, blocked }]) =>
      key(n, {
        ...{ max_budget: cap, blocked, team_id: owner === none ? null : `t${owner}` },
        user_id: member && owner !== none ? 'u' : null,
      }),
    ),
  })

const owner = fc.record({
  budget: fc.option(fc.integer({ min: 0, max: 9 })),
  spend: fc.integer({ min: 0, max: 9 }),
  blocked: fc.boolean(),
})
const ownedKey = fc.record({
  owner: fc.integer({ min: none, max: 4 }),
  cap: fc.option(fc.integer({ min: 0, max: 9 })),
  member: fc.boolean(),
  blocked: fc.boolean(),
})

/** An owner or a key that comes, changes or goes, or a key that gets another id. */
const change = fc.oneof(
  fc.record({ at: fc.integer({ min: 1, max: 4 }), owner: fc.option(owner) }),
  fc.record({ at: fc.integer({ min: 1, max: 6 }), key: fc.option(ownedKey) }),
  fc.record({ at: fc.integer({ min: 1, max: 6 }), renamed: fc.integer({ min: 7, max: 9 }) }),
)

function changed(source: Source, step: typeof change extends fc.Arbitrary<infer T> ? T : never) {
  const set = <T>(map: Map<number, T>, value: T | null) =>
    value === null ? map.delete(step.at) : map.set(step.at, value)
  if ('owner' in step) set(source.owners, step.owner)
  else if ('key' in step) set(source.keys, step.key)
  else {
    const known = source.keys.get(step.at)
    source.keys.delete(step.at)
    if (known) source.keys.set(step.renamed, known)
  }
  for (const [n, { owner: id }] of source.keys) {
    if (id !== none && !source.owners.has(id)) source.keys.delete(n)
  }
}

/** In a shared account all owners together spend no more than they brought. */
function assertBounds({ keys, booked }: Present): void {
  const brought = new Map([...booked.values()].map((one) => [one.source, one.amount]))
  for (const { parentId, capLimit, tags } of keys.values()) {
    if (parentId !== null) continue
    // The least that a cap can be is 1 nano-USD.
    const most = brought.get(tags['moved_from'] ?? '') ?? 1n
    expect(capLimit <= most).toBe(true)
  }
}

describe('the money of an import', () => {
  test('Of no source more is booked in all than it held at one run, whatever changes between runs.', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 6 }),
        (runs) => {
          const source: Source = { owners: new Map(), keys: new Map() }
          let present = nothing
          let most = 0n
          for (const steps of runs) {
            for (const one of steps) changed(source, one)
            const found = read(source)
            const held = heldBy(found)
            most = held > most ? held : most
            present = applied(secondRun(found, present).steps, present)
            expect(bookedIn(present) <= most).toBe(true)
            assertBounds(present)
            const again = secondRun(read(source), present).steps
            expect([again.grants, again.creates, again.changes, again.stops]).toEqual([
              ...[[], [], [], []],
            ])
          }
        },
      ),
      { numRuns: nightly(300, 20_000) },
    )
  })

  const team = (id: string, max_budget: number | null, more: object = {}) => ({
    ...{ team_id: id, max_budget, spend: 0, ...more },
  })
  const teams = (list: object[], ...keys: object[]) =>
    litellm({ LiteLLM_TeamTable: list, LiteLLM_VerificationToken: keys })
  const stays = 'stays there: a key of it came over with another owner'

  test('A key that changes its owner brings its money once: the new owner stays there.', () => {
    const own = { team_id: 'a', max_budget: 5 }
    const { present } = firstRun(teams([team('a', null), team('b', null)], key(1, own)))
    expect(bookedIn(present)).toBe(5n * usd)
    for (const budget of [null, 9]) {
      const moved = teams([team('a', null), team('b', budget)], key(1, { ...own, team_id: 'b' }))
      const { steps, why } = secondRun(moved, present)
      expect([steps.grants, steps.creates]).toEqual([[], []])
      expect(why).toContain(stays)
    }
  })

  test('A balance that went to a new owner, or a key that got another id, is not booked again.', () => {
    const { present } = firstRun(teams([team('a', 8)]))
    const why = 'stays there: others have less there than they brought, which may be the same money'
    const renamed = teams([team('b', 8)])
    expect(secondRun(renamed, present).steps.grants).toEqual([])
    expect(renamed.misfits.get(why)).toEqual(['litellm/team/b (8.00 USD)'])
    const part = teams([team('a', 5), team('b', 3), team('c', 1)])
    expect(secondRun(part, present).steps.grants.map(({ source }) => source)).toEqual([
      'litellm/team/c',
    ])
    const others = secondRun(teams([team('b', 8)]), present, {
      newOwners: new Set(['team/b']),
    }).steps
    expect(others.grants).toMatchObject([{ source: 'litellm/team/b', amount: 8n * usd, account }])
    const keys = firstRun(teams([team('a', null)], key(1, { team_id: 'a', max_budget: 5 }))).present
    const regenerated = teams(
      [team('a', null), team('b', null)],
      key(2, { team_id: 'b', max_budget: 5 }),
    )
    expect(secondRun(regenerated, keys).steps.grants).toEqual([])
  })

  test('A new name of the gateway needs --separate, which lets no renamed owner come over twice.', () => {
    const { present } = firstRun(teams([team('a', 8)]))
    const eu = { as: 'litellm:eu' }
    expect(() => secondRun(teams([team('b', 8)]), present, eu)).toThrow('and none as litellm:eu')
    const separate = { ...eu, isSeparate: true }
    const second = secondRun(teams([team('a', 8)]), present, separate).steps
    expect(second.grants).toHaveLength(1)
    const both = applied(second, present)
    const renamed = secondRun(teams([team('b', 8)]), both, separate)
    expect(renamed.steps.grants).toEqual([])
    expect(renamed.why).toContain('which may be the same money')
    const news = { ...separate, newOwners: new Set(['team/b']) }
    expect(secondRun(teams([team('b', 8)]), both, news).steps.grants).toHaveLength(1)
  })

  test('A new owner comes over while the others have what they brought.', () => {
    const { present } = firstRun(teams([team('a', 8)]))
    const { steps } = secondRun(teams([team('a', 8), team('b', 3)]), present)
    expect(steps.grants).toMatchObject([{ amount: 3n * usd }])
  })

  test('A run that was cut off after its grants makes the keys with what it booked.', () => {
    const read = (budget: number) => teams([team('a', budget)], key(1, { team_id: 'a' }))
    const first = firstRun(read(8))
    const cut = { ...nothing, booked: first.present.booked }
    const { steps } = secondRun(read(20), cut)
    expect(steps.grants).toEqual([])
    expect(steps.creates.map(({ capLimit }) => capLimit)).toEqual([8n * usd, 8n * usd])
  })

  test('A member of a team has one budget for keys of every run.', () => {
    const member = (more: object[]) =>
      litellm({
        LiteLLM_BudgetTable: [{ budget_id: 'm', max_budget: 4 }],
        LiteLLM_TeamTable: [team('t', 50)],
        LiteLLM_TeamMembership: [{ team_id: 't', user_id: 'u', budget_id: 'm', spend: 0 }],
        LiteLLM_VerificationToken: [key(1, { team_id: 't', user_id: 'u' }), ...more],
      })
    const first = firstRun(member([]))
    expect(first.steps.creates.map(({ name, capLimit }) => [name, capLimit])).toEqual([
      ['litellm t', 50n * usd],
      ['u of t', 4n * usd],
      ['k1', 4n * usd],
    ])
    const later = secondRun(member([key(2, { team_id: 't', user_id: 'u' })]), first.present).steps
    const above = first.steps.creates[1]
    expect(later.creates).toMatchObject([{ name: 'k2', parentId: above?.id, capLimit: 4n * usd }])
  })

  test('A budget of a member that comes later stops the keys that do not share it here.', () => {
    const of = (budget_id: string | null) =>
      litellm({
        LiteLLM_BudgetTable: [{ budget_id: 'm', max_budget: 4 }],
        LiteLLM_TeamTable: [team('t', 50)],
        LiteLLM_TeamMembership: [{ team_id: 't', user_id: 'u', budget_id, spend: 0 }],
        LiteLLM_VerificationToken: [1, 2].map((n) => key(n, { team_id: 't', user_id: 'u' })),
      })
    const { present } = firstRun(of(null))
    const { stops } = secondRun(of('m'), present).steps
    expect(stops.map(({ name, does }) => [name, does])).toEqual([
      ['k1', 'pause'],
      ['k2', 'pause'],
    ])
  })

  test('Owners who owe, or are blocked without keys and money, are named and have nothing.', () => {
    const found = newApi({
      users: [
        { id: 1, status: 1, quota: -500_000 },
        { id: 2, status: 2, quota: 0 },
      ],
      tokens: [],
    })
    const { steps } = firstRun(found)
    expect([steps.grants, steps.creates]).toEqual([[], []])
    expect(found.misfits.get('a negative balance becomes zero')).toEqual(['user/1 (-1.00 USD)'])
    expect(found.misfits.get('its balance and keys stay there: its user is disabled')).toEqual([
      'litellm/user/2 (0.00 USD)',
    ])
  })
})
