import { noLimits } from '../../src/access/keys/key-limits.ts'
import type { AccountRow, KeyRow } from '../../src/storage/db/schema/schema.ts'

/** The columns of a key that limits nothing beside its cap, runs models, and works. */
export const plainKey = {
  ...noLimits,
  scopes: ['runs:write'],
  models: [],
  ipCidrs: [],
  tags: {},
  passport: '',
  childrenCount: 0,
  pausedAt: null,
  pausedReason: null,
  leakAnsweredAt: null,
  secretBy: 'operator',
  revokedAt: null,
  revokedBy: null,
  branch: null,
  lastUsedAt: null,
} satisfies Partial<KeyRow>

/** The columns of an account that has no money, on the plan that all begin with. */
export const plainAccount = {
  ...{ balance: 0n, held: 0n, moves: 0, movedAt: 0, paidIn: null },
  ...{ status: 'active', createdAt: 0, plan: 'free', planUntil: null },
  ...{ freeDay: null, freeWrites: null, freeBytes: null, unpaidRuns: null },
  ...{ lowBalance: null, exhaustedAt: null, tellsRuns: false, eventPlace: null },
  ...{ slotMove: null, leftAt: null },
} satisfies Partial<AccountRow>
