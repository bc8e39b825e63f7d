/** The retention periods that an account can choose for the texts of its runs. */
import type { Millis } from '../../kernel/clock.ts'

/** How long inputs and outputs are kept; `none` unless the account chooses otherwise. */
export type Retention = 'none' | '24h' | '30d'

export const retentionMs: Readonly<Record<Retention, Millis>> = {
  none: 0,
  '24h': 86_400_000,
  '30d': 2_592_000_000,
}

export const isShorter = (one: Retention, than: Retention): boolean =>
  retentionMs[one] < retentionMs[than]

export const retentions = Object.keys(retentionMs) as readonly Retention[]
