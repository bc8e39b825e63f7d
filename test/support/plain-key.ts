import { noLimits } from '../../src/access/keys/key-limits.ts'
import type { KeyRow } from '../../src/storage/db/schema/schema.ts'

/** The columns of a key that limits nothing beside its cap, and works. */
export const plainKey = {
  ...noLimits,
  pausedAt: null,
  pausedReason: null,
  leakAnsweredAt: null,
  secretBy: 'operator',
  revokedAt: null,
  revokedBy: null,
  branch: null,
  lastUsedAt: null,
} satisfies Partial<KeyRow>
