import type { Millis } from '../../kernel/clock.ts'
import type { KeyRow, WindowRow } from '../../storage/db/schema.ts'
import type { Chain } from './key.ts'

/** A key with what is shown of it besides its row. */
export type ShownKey = {
  key: KeyRow
  /** The key itself first, its root last. */
  chain: Chain
  /** What its present window counts; none before its first hold. */
  window: WindowRow | undefined
  /** When the secret that was rotated out stops working; null while there is only one. */
  overlapUntil: Millis | null
}

/** Which keys: those that ended one way, those whose name holds some words; left out, all. */
export type KeyFilter = { ended?: 'revoked' | 'expired' | undefined; name?: string | undefined }

/** Each key directly below its parent; keys of one parent stay in the order they came in. */
export function inTreeOrder(shown: readonly ShownKey[]): ShownKey[] {
  const present = new Set(shown.map(({ key }) => key.id))
  const below = Map.groupBy(shown, ({ key }) =>
    key.parentId !== null && present.has(key.parentId) ? key.parentId : null,
  )
  const from = (parent: string | null): ShownKey[] =>
    (below.get(parent) ?? []).flatMap((one) => [one, ...from(one.key.id)])
  return from(null)
}
