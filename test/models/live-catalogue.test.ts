import { expect, test } from 'bun:test'
import { makeCatalogue } from '../../src/models/catalogue.ts'
import { liveCatalogue } from '../../src/models/live-catalogue.ts'
import { withRoute } from '../../src/models/step-prices.ts'

const of = (price: number, version: number) =>
  makeCatalogue({
    version,
    upstreamIds: ['x'],
    models: [
      {
        id: 'a/m',
        kind: 'chat',
        context_tokens: 10,
        max_output_tokens: 5,
        input_pusd: price,
        output_pusd: 1,
        route: ['x:a', 'x:b'],
      },
    ],
  })

test('A model that was found keeps its price list after a change, with a narrowed route too.', () => {
  const live = liveCatalogue(of(1, 1))
  const found = live.get('a/m')
  if (!found) throw new Error('no such model')
  live.replace(of(2, 2))
  const next = live.get('a/m')
  const models = [found, withRoute(found, found.route.slice(1)), next ?? found]
  expect(models.map((model) => live.priceListOf(model).version)).toEqual([1, 1, 2])
})
