/** Asks a provider for its models, and decides which of them are added. */
import type { Millis } from '../../kernel/clock.ts'
import type { OfferedModel } from '../../models/price-files/price-file.ts'
import {
  type IncompleteModel,
  type Offers,
  type OwnFacts,
  offersOf,
} from '../../models/providers/offers.ts'
import type { Provider } from '../../models/providers/provider.ts'
import { askProvider, type ProviderAccess } from '../../models/upstream/ask-provider.ts'
import { upstreamWords } from '../../models/upstream/check-words.ts'
import { chosen } from './provider-entries.ts'

/** More models than this are chosen by name. */
const unchosenMost = 40
/** How many models a sentence names. */
const namedMost = 8

export type ProvenOffers = Offers & { isKeyProven: boolean }

/** The offers of a provider, or why there are none, in a sentence. */
export async function askOffers(
  provider: Provider,
  access: ProviderAccess,
  own: OwnFacts,
  now: Millis,
): Promise<ProvenOffers | { refused: string }> {
  const answer = await askProvider(provider, access)
  if (answer.status !== 'ok') {
    const words = answer.status === 'denied' ? 'rejects the key' : upstreamWords[answer.status]
    const page = answer.status === 'denied' ? ` Keys are made at ${provider.keysPage ?? 'it'}.` : ''
    return { refused: `${provider.name} ${words}.${page}` }
  }
  const offers = await offersOf(provider, answer, own, now)
  return { ...offers, isKeyProven: answer.isKeyProven }
}

export type Choice =
  | { status: 'ok'; models: OfferedModel[] }
  /** Too many fit to be meant; an example names some. */
  | { status: 'too_many'; count: number; example: string }
  | { status: 'none'; why: string; lacking: IncompleteModel[] }

/** The models of an offer that are to be sold. */
export function chooseModels({ models, incomplete }: Offers, globs: readonly string[]): Choice {
  const wanted = chosen(models, globs)
  if (globs.length === 0 && wanted.length > unchosenMost) {
    const some = wanted.slice(0, 3).map((model) => model.upstreamName)
    return { status: 'too_many', count: wanted.length, example: some.join(',') }
  }
  if (wanted.length > 0) return { status: 'ok', models: wanted }
  const lacking = chosen(incomplete, globs)
  const why =
    lacking.length > 0 ? 'None of these models can be sold yet.' : 'It lists no such model.'
  return { status: 'none', why, lacking }
}

/** The names of models that lack a fact, by that fact; undefined where none lacks it. */
export function lackingNames(incomplete: readonly IncompleteModel[], globs: readonly string[]) {
  const lacking = chosen(incomplete, globs)
  const of = (which: (one: IncompleteModel) => boolean) => {
    const ids = lacking.filter(which).map((one) => one.upstreamName)
    const more = ids.length > namedMost ? ` and ${ids.length - namedMost} more` : ''
    return ids.length === 0 ? undefined : `${ids.slice(0, namedMost).join(', ')}${more}`
  }
  return {
    unpriced: of(({ missing }) => missing.includes('price')),
    unbounded: of(({ missing }) => missing.length === 1 && missing[0] === 'context'),
    unmetered: of(({ dimensions }) => dimensions.length > 0),
  }
}
