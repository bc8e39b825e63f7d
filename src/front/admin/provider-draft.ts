/** Sends a proposed change with its key through the page that asks, sealed for one admin. */
import type { Deps } from '../../app/deps-port.ts'
import type { ProviderDraft } from '../../app/providers/desk-port.ts'
import { refuse } from '../../kernel/refusal.ts'

/** How long an operator may look at a change before it is confirmed, in ms. */
const lifeMs = 15 * 60_000

type Sealed = { until: number; draft: ProviderDraft }

const placeOf = (account: string): string => `provider draft of ${account}`

/** The key in it is readable to this service alone. */
export function sealDraft(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  account: string,
  draft: ProviderDraft,
): string {
  const sealed: Sealed = { until: clock.now() + lifeMs, draft }
  const bytes = sealer.seal(JSON.stringify(sealed), placeOf(account))
  return Buffer.from(bytes).toString('base64url')
}

/** @throws Refusal 'conflict' for one of another admin, a changed one, and one that is too old */
export function openDraft(
  { sealer, clock }: Pick<Deps, 'sealer' | 'clock'>,
  account: string,
  text: string,
): ProviderDraft {
  const opened = sealer.open(Buffer.from(text, 'base64url'), placeOf(account))
  const sealed = opened === undefined ? undefined : (JSON.parse(opened) as Sealed)
  if (sealed && sealed.until > clock.now()) return sealed.draft
  return refuse('conflict', 'This change is too old or not yours. Add the provider again.')
}
