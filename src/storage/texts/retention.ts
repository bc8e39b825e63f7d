import type { Millis } from '../../kernel/clock.ts'

/**
 * How long the texts of an account's runs are kept: what went in and what came out. Not at all
 * unless the account asked.
 */
export type Retention = 'none' | '24h' | '30d'

/** What can be asked for, and how long that is. */
export const retentionMs: Readonly<Record<Retention, Millis>> = {
  none: 0,
  '24h': 86_400_000,
  '30d': 2_592_000_000,
}

export const isShorter = (one: Retention, than: Retention): boolean =>
  retentionMs[one] < retentionMs[than]

export const retentions = Object.keys(retentionMs) as readonly Retention[]
