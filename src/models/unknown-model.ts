/** The refusal of a model that is not there. */
import { type Chain, isModelAllowed } from '../access/keys/key.ts'
import { nearestIds } from '../kernel/nearest.ts'
import { Refusal } from '../kernel/refusal.ts'
import type { Catalogue } from './catalogue.ts'

/**
 * Names the nearest models that the keys may use. It does not repeat the name, which can be a
 * secret that stands in the wrong place.
 */
export function unknownModel({ list, aliases }: Catalogue, name: string, chain: Chain): Refusal {
  const ids = list()
    .filter(({ id, status }) => status !== 'disabled' && isModelAllowed(chain, id))
    .map(({ id }) => id)
  const names = Object.keys(aliases).filter(
    (alias) => !alias.includes('*') && ids.includes(aliases[alias] ?? ''),
  )
  const found = nearestIds(name, [...ids, ...names])
  const guess = found.length === 0 ? '' : ` Did you mean ${found.join(' or ')}?`
  return new Refusal('model_not_found', {
    param: 'model',
    message: `There is no such model.${guess} GET /v1/models lists those there are.`,
    ...(found.length === 0 ? {} : { metadata: { nearest: found[0] ?? null } }),
  })
}
