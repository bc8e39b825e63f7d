/** Plans and steps of made-up rows, for tests of what an import decides. */
import { noLimits, withLimits } from '../../../src/access/keys/key-limits.ts'
import { decideMoves, type Present, type Steps } from '../../../src/cli/move-in/decide-moves.ts'
import type { SourceContents } from '../../../src/cli/move-in/found.ts'
import { readLitellmKeys } from '../../../src/cli/move-in/litellm-keys.ts'
import { type MovePlan, type MoveWish, planMoves } from '../../../src/cli/move-in/plan-moves.ts'
import { rowsIn, type Tables } from '../../../src/cli/move-in/tables.ts'
import { parseExactJson } from '../../../src/kernel/exact-json.ts'
import type { KeyRow } from '../../../src/storage/db/schema/schema.ts'
import { tokenOf } from './fixtures.ts'

export const account = `0x${'a1'.repeat(20)}`
export const now = 1_790_000_000_000
export const usd = 1_000_000_000n

export const tablesOf = (rows: Record<string, object[]>): Tables =>
  new Map(
    Object.entries(rows).map(([name, list]) => [
      name,
      rowsIn(parseExactJson(JSON.stringify(list))),
    ]),
  )

export const litellm = (rows: Record<string, object[]>) => readLitellmKeys(tablesOf(rows), now)
export const key = (n: number, more: object = {}) => ({
  token: tokenOf(n),
  key_alias: `k${n}`,
  ...more,
})
export const only = (...keys: object[]) => litellm({ LiteLLM_VerificationToken: keys })

export const planOf = (
  found: SourceContents,
  isShared = true,
  more: Partial<MoveWish> = {},
): MovePlan =>
  planMoves(found, {
    ...{ as: 'litellm', isSeparate: false, aliases: {}, now, mark: '' },
    accountOf: () => ({ account, isShared }),
    ...more,
  })

export const nothing: Present = {
  ...{ keys: new Map(), booked: new Map(), balances: new Map() },
  ...{ widened: new Map(), sources: [], moved: [] },
}

/** The rows that a plan makes, as a later run finds them. */
function madeBy(plan: MovePlan, steps: Steps): Present {
  const wishes = plan.owners.flatMap(({ parent, keys }) => [parent, ...keys])
  const rows = wishes
    .filter(({ id }) => steps.creates.some((one) => one.id === id))
    .map((wish): KeyRow => {
      const { hasExpiry: _, state: __, owner: ___, parentId, ...own } = wish
      const row = {
        ...{ ...own, accountId: wish.account, parentId: parentId ?? null, lineage: [own.id] },
        ...withLimits(noLimits, own),
        ...{ models: [...own.models], ipCidrs: [...own.ipCidrs], branch: null, fingerprint: '' },
        ...{ secretBy: 'operator', scopes: [], passport: '', childrenCount: 0, createdAt: now },
        ...{ pausedAt: null, pausedReason: null, leakAnsweredAt: null, revokedAt: null },
        ...{ revokedBy: null, lastUsedAt: null },
      }
      return row
    })
  const booked = steps.grants.map(
    ({ id, amount, account: at }) => [id, { account: at, amount }] as const,
  )
  return {
    ...{ keys: new Map(rows.map((row) => [row.id, row])), booked: new Map(booked), moved: rows },
    ...{ widened: new Map(), balances: new Map() },
    sources: steps.grants.map(({ source }) => source),
  }
}

export const firstRun = (found: SourceContents, more: Partial<MoveWish> = {}) => {
  const plan = planOf(found, true, more)
  const steps = decideMoves(plan, nothing, found.misfits)
  return { plan, steps, present: madeBy(plan, steps) }
}

export const secondRun = (
  found: SourceContents,
  present: Present,
  more: Partial<MoveWish> = {},
) => ({
  steps: decideMoves(planOf(found, true, more), present, found.misfits),
  why: [...found.misfits.keys()].join('; '),
})

export const named = ({ steps }: { steps: Steps }, name: string) =>
  steps.creates.find((one) => one.name === name)
