/** A catalogue that is replaced while the service runs. */
import type { Catalogue } from './catalogue.ts'
import type { Model, PriceList } from './model.ts'
import type { Prices } from './rates.ts'

/** A catalogue that can be exchanged as a whole while others hold it. */
export type LiveCatalogue = Catalogue & { replace(next: Catalogue): void }

/**
 * The catalogue of a running service. Who found a model keeps it, with its prices and the version
 * they belong to, after a change too.
 */
export function liveCatalogue(first: Catalogue): LiveCatalogue {
  // By its prices: a model whose route is narrowed for a request is another object with the same.
  const lists = new WeakMap<Prices, PriceList>()
  let current = first
  let byId = new Map<string, Model>()
  const replace = (next: Catalogue): void => {
    byId = new Map(next.list().map((model) => [model.id, model]))
    for (const model of byId.values()) lists.set(model.prices, next.priceList)
    current = next
  }
  replace(first)
  return {
    get: (id) => byId.get(id),
    named: (name) => current.named(name),
    get aliases() {
      return current.aliases
    },
    list: () => current.list(),
    get priceList() {
      return current.priceList
    },
    priceListOf: ({ prices }) => lists.get(prices) ?? current.priceList,
    replace,
  }
}
