import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isModelAllowed } from '../../../src/access/keys/key.ts'
import type { Present } from '../../../src/cli/move-in/decide-moves.ts'
import { nightly } from '../../support/nightly.ts'
import { applied, key, litellm, nothing, now, secondRun, usd } from './plans.ts'

const dayMs = 86_400_000
const models = ['a', 'b', 'c']
const some = fc.subarray(models)
const rate = fc.option(fc.integer({ min: 0, max: 3 }))

const limits = { models: some, rpm: rate, blocked: fc.boolean() }
const owner = fc.record({ ...limits, budget: fc.option(fc.integer({ min: 1, max: 9 })) })
const member = fc.record({
  models: some,
  rpm: rate,
  cap: fc.option(fc.integer({ min: 1, max: 9 })),
})
const ownedKey = fc.record({
  ...limits,
  owner: fc.integer({ min: 0, max: 1 }),
  isMember: fc.boolean(),
  cap: fc.option(fc.integer({ min: 1, max: 9 })),
  duration: fc.constantFrom(null, '1d', '7d', '30d'),
  days: fc.option(fc.integer({ min: -1, max: 400 })),
})
const source = fc.record({
  owners: fc.tuple(owner, owner),
  members: fc.tuple(fc.option(member), fc.option(member)),
  keys: fc.array(ownedKey, { minLength: 1, maxLength: 4 }),
})
type Source = typeof source extends fc.Arbitrary<infer T> ? T : never

const read = ({ owners, members, keys }: Source) =>
  litellm({
    LiteLLM_BudgetTable: members.flatMap((one, at) =>
      one === null
        ? []
        : [
            {
              budget_id: `b${at}`,
              max_budget: one.cap,
              rpm_limit: one.rpm,
              allowed_models: one.models,
            },
          ],
    ),
    LiteLLM_TeamTable: owners.map(({ budget, rpm, ...more }, at) => ({
      ...{ ...more, team_id: `t${at}`, max_budget: budget, spend: 0, rpm_limit: rpm },
    })),
    LiteLLM_TeamMembership: members.map((one, at) => ({
      ...{ team_id: `t${at}`, user_id: 'u', budget_id: one && `b${at}`, spend: 0 },
    })),
    LiteLLM_VerificationToken: keys.map(
      ({ owner: of, isMember, cap, duration, days, ...more }, n) =>
        key(n, {
          ...{ models: more.models, rpm_limit: more.rpm, blocked: more.blocked, max_budget: cap },
          ...{ team_id: `t${of}`, user_id: isMember ? 'u' : null, budget_duration: duration },
          expires: days === null ? null : new Date(now + days * dayMs).toISOString(),
        }),
    ),
  })

const windowDays = { day: 1, week: 7, month: 31, lifetime: Infinity }

/** Every key that works here works there, and may do no more. */
function assertTight({ owners, members, keys }: Source, present: Present): void {
  for (const row of present.keys.values()) {
    const n = /^k(\d)$/.exec(row.name)?.[1]
    const there = n === undefined ? undefined : keys[Number(n)]
    const chain = row.lineage.flatMap((id) => present.keys.get(id) ?? [])
    if (!there || chain.some((one) => one.pausedAt !== null || one.revokedAt !== null)) continue
    const bounds = [there, owners[there.owner], there.isMember ? members[there.owner] : null]
    const known = bounds.flatMap((one) => one ?? [])
    expect(known.some((one) => 'blocked' in one && one.blocked)).toBe(false)
    expect(there.days ?? 1).toBeGreaterThan(0)
    expect(row.expiresAt <= now + (there.days ?? 400) * dayMs).toBe(true)
    for (const model of models.filter((one) => isModelAllowed(chain, one))) {
      for (const one of known)
        expect(one.models.length === 0 || one.models.includes(model)).toBe(true)
    }
    const rates = known.flatMap(({ rpm }) => rpm ?? [])
    const here = Math.min(...chain.map(({ rpm }) => rpm ?? Infinity))
    expect(here <= Math.min(...rates, Infinity)).toBe(true)
    if (there.cap === null) continue
    const { duration } = there
    const days = duration === null ? Infinity : Number(duration.slice(0, -1))
    const isCapped = chain.some(
      ({ capLimit, capWindow }) =>
        capLimit <= BigInt(there.cap ?? 0) * usd && windowDays[capWindow] >= days,
    )
    expect(isCapped).toBe(true)
  }
}

test('After any changes there between runs, no key may do more here than there.', () => {
  fc.assert(
    fc.property(fc.array(source, { minLength: 2, maxLength: 5 }), (sources) => {
      let present = nothing
      for (const one of sources) {
        present = applied(secondRun(read(one), present).steps, present)
        assertTight(one, present)
      }
    }),
    { numRuns: nightly(400, 20_000) },
  )
})
