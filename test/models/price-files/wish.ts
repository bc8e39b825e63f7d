import { readMarkup, toEntry } from '../../../src/models/price-files/price-entry.ts'
import type { PriceFile } from '../../../src/models/price-files/price-file.ts'

export const wish = (without: string[] = [], only = '') => ({
  wants: (id: string) => id.startsWith(only),
  without: new Set(without),
})

/** Entries as the configuration gets them. */
export const entriesOf = (file: PriceFile, upstream?: string, markup?: string) =>
  file.models.map(
    (model) => toEntry(model, { upstream, factor: markup ? readMarkup(markup) : undefined }).entry,
  )
