import { describe, expect, test } from 'bun:test'
import { calcPrice, findProvider, type MatchLogic } from '@pydantic/genai-prices'
import { readModels } from '../../../src/config/model-entries.ts'
import { makeCatalogue } from '../../../src/models/catalogue.ts'
import { costOf, type Usage } from '../../../src/models/meter.ts'
import { type KnownPrices, openPriceData } from '../../../src/models/price-files/price-data.ts'
import { toEntry } from '../../../src/models/price-files/price-entry.ts'
import { providers } from '../../../src/models/providers/presets.ts'
import { linesOf } from '../../../src/models/rates.ts'
import { promise } from '../../support/promise.ts'

const now = Date.parse('2026-11-29T12:00:00Z')
const dataIds = [...new Set(providers.flatMap(({ prices }) => prices ?? []))]

describe('the embedded prices', () => {
  test('every preset that names a provider of the data names one that it has', () => {
    expect(dataIds.filter((id) => findProvider({ providerId: id })?.id !== id)).toEqual([])
    expect(dataIds.length).toBeGreaterThanOrEqual(20)
  })

  promise`O6`
  test.each(dataIds)('every model of %s costs no less here than its provider bills', async (id) => {
    const find = await openPriceData(id, now)
    const models = findProvider({ providerId: id })?.models ?? []
    let compared = 0
    for (const model of models) {
      const name = nameOf(model.match)
      const finding = find(name)
      if (!finding || 'dimensions' in finding) continue
      if (finding.rates.input_pusd === undefined || !finding.rates.output_pusd) continue
      const prices = pricesOf(finding)
      for (const usage of usages) {
        for (const hour of ['02:30', '08:00', '12:00', '23:00']) {
          const timestamp = new Date(`2026-11-29T${hour}:00Z`)
          const theirs = calcPrice(namedUsage(usage), name, { providerId: id, timestamp })
          if (!theirs) continue
          const ours = Number(costOf(linesOf(prices, 'chat', usage), 0)) / 1e9
          // Theirs is a sum of floating-point numbers.
          if (ours < theirs.total_price * (1 - 1e-9)) {
            throw new Error(`${name} at ${hour}: ${ours} < ${theirs.total_price}`)
          }
          compared++
        }
      }
    }
    expect(compared).toBeGreaterThan(0)
  })

  test('a price that depends on the hour is the dearest of all hours, and says so', async () => {
    const finding = await (await openPriceData('deepseek', now))('deepseek-v4-pro')
    if (!finding || 'dimensions' in finding) throw new Error('it has no prices')
    expect(finding.notes).toContain('Its price depends on the hour: the dearest is taken')
    expect(Number(finding.rates.input_pusd?.digits)).toBeGreaterThan(0)
  })

  test('a model that is billed by a unit without a meter is refused by the name of the unit', async () => {
    const find = await openPriceData('mistral', now)
    expect(find('mistral-ocr-2505')).toMatchObject({
      dimensions: expect.arrayContaining(['input_document_kpages']),
    })
  })

  test('a model that the data does not know has no price', async () => {
    expect((await openPriceData('openai', now))('gpt-of-another-planet')).toBeUndefined()
  })
})

/** Below, at and above the bands of today's models, with and without a cache. */
const usages: Usage[] = [1, 1000, 128_000, 200_000, 200_001, 271_999, 272_001, 900_000].flatMap(
  (inputTokens) =>
    [
      {},
      { cache_read: Math.floor(inputTokens / 2) },
      { cache_write: Math.floor(inputTokens / 3), cache_read: Math.floor(inputTokens / 3) },
    ].map((classes) => ({ inputTokens, outputTokens: 1000, classes })),
)

const namedUsage = ({ inputTokens, outputTokens, classes }: Usage) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(classes?.cache_read ? { cache_read_tokens: classes.cache_read } : {}),
  ...(classes?.cache_write ? { cache_write_tokens: classes.cache_write } : {}),
})

/** A name that a match takes. */
function nameOf(match: MatchLogic): string {
  if ('or' in match) return nameOf(match.or[0] ?? { equals: '' })
  if ('and' in match) return match.and.map(nameOf).join('')
  return Object.values(match).join('')
}

function pricesOf(known: KnownPrices) {
  const limits = { contextTokens: 2_000_000, maxOutputTokens: 100_000 }
  const names = { id: 'acme/large', name: undefined, upstreamName: 'large' }
  const { entry } = toEntry(
    { ...names, kind: 'chat', ...known, ...names, ...limits, features: [], tiers: [] },
    { upstream: 'up', factor: undefined },
  )
  const problems: string[] = []
  const models = readModels([entry], problems)
  expect(problems).toEqual([])
  const found = makeCatalogue({ models, upstreamIds: ['up'] }).get('acme/large')
  if (!found) throw new Error('the model is not there')
  return found.prices
}
