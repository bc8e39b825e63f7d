/** Sends a proposed change with its key through the page that asks, sealed for one admin. */

import type { ChangeDraft } from '../../app/changes/changes-port.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { ProviderDraft } from '../../app/providers/desk-port.ts'
import { refuse } from '../../kernel/refusal.ts'

/** How long an operator may look at a change before it is confirmed, in ms. */
const lifeMs = 15 * 60_000

type Drafts = { provider: ProviderDraft; change: ChangeDraft }
type Sealed<D> = { until: number; draft: D }

const placeOf = (kind: keyof Drafts, account: string): string => `${kind} draft of ${account}`

/** The kind of change, and its operator. */
type DraftOwner<K> = { kind: K; account: string }

/** The key in it is readable to this service alone. */
export function sealDraft<K extends keyof Drafts>(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  { kind, account }: DraftOwner<K>,
  draft: Drafts[K],
): string {
  const sealed: Sealed<Drafts[K]> = { until: clock.now() + lifeMs, draft }
  const bytes = sealer.seal(JSON.stringify(sealed), placeOf(kind, account))
  return Buffer.from(bytes).toString('base64url')
}

/** @throws Refusal 'conflict' for one of another admin, a changed one, and one that is too old */
export function openDraft<K extends keyof Drafts>(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  { kind, account }: DraftOwner<K>,
  text: string,
): Drafts[K] {
  const opened = sealer.open(Buffer.from(text, 'base64url'), placeOf(kind, account))
  const sealed = opened === undefined ? undefined : (JSON.parse(opened) as Sealed<Drafts[K]>)
  if (sealed && sealed.until > clock.now()) return sealed.draft
  return refuse('conflict', 'This change is too old or not yours. Begin it again.')
}
