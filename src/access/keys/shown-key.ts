/** A key with its chain and what its present window counts. */
import type { Millis } from '../../kernel/clock.ts'
import type { KeyRow, WindowRow } from '../../storage/db/schema/schema.ts'
import type { Chain } from './key.ts'

export type ShownKey = {
  key: KeyRow
  /** The key itself first, its root last. */
  chain: Chain
  /** Its current window; none before its first hold. */
  window: WindowRow | undefined
  /** When the old secret of a rotation stops working; null while there is one secret. */
  overlapUntil: Millis | null
}

/** Keys that ended one way, or whose name contains a text. Absent members do not filter. */
export type KeyFilter = { ended?: 'revoked' | 'expired' | undefined; name?: string | undefined }

/** Orders each key below its parent; keys of one parent keep their order. */
export function inTreeOrder(shown: readonly ShownKey[]): ShownKey[] {
  const present = new Set(shown.map(({ key }) => key.id))
  const below = Map.groupBy(shown, ({ key }) =>
    key.parentId !== null && present.has(key.parentId) ? key.parentId : null,
  )
  const from = (parent: string | null): ShownKey[] =>
    (below.get(parent) ?? []).flatMap((one) => [one, ...from(one.key.id)])
  return from(null)
}
