import { describe, expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { makeCatalogue } from '../../src/models/catalogue.ts'
import { costOf, meters } from '../../src/models/meter.ts'
import type { ModelConfig } from '../../src/models/model-config.ts'
import { linesOf } from '../../src/models/rates.ts'
import type { UsageShape } from '../../src/models/reported.ts'
import { decideUsage } from '../../src/models/usage.ts'
import { meterWords } from '../../src/verify/meter-words.ts'
import { lineOf } from '../../src/verify/slip-lines.ts'
import { amountText } from '../../src/web/ui/amount.tsx'
import { promise } from '../support/promise.ts'

const text = await Bun.file('docs/metering.md').text()
const blocks = (of: string, kind: string): string[] =>
  [...of.matchAll(new RegExp(`\`\`\`${kind}\n([\\s\\S]+?)\`\`\``, 'g'))].map(([, one = '']) => one)

const models = blocks(text, 'toml').flatMap(
  (block) => (parse(block) as unknown as { models: ModelConfig[] }).models,
)
const catalogue = makeCatalogue({ models, upstreamIds: ['local'] })

/** The examples: a title, the usage of a model server, a table of lines, the charge. */
const examples = (text.split('\n## Examples\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n### ')
  .slice(1)
  .map((part) => ({
    title: part.split('\n')[0] ?? '',
    model: /Model `([^`]+)`/.exec(part)?.[1] ?? '',
    shape: /shape `([^`]+)`/.exec(part)?.[1] as UsageShape,
    tier: /`service_tier` `([^`]+)`/.exec(part)?.[1],
    usage: JSON.parse(blocks(part, 'json')[0] ?? 'null'),
    rows: [...part.matchAll(/^\| `(\w+)` \| ([\d,]+) \| (.+) \| (.+) \|$/gm)].map((row) =>
      row.slice(1),
    ),
    charged: /^Charged: (\S+), `(\w+)`\.$/m.exec(part)?.slice(1),
  }))

describe('the examples of docs/metering.md', () => {
  test('there are seven', () => {
    expect(examples).toHaveLength(7)
  })

  promise`O1`
  test.each(examples)('$title is charged as the page says', (example) => {
    const { model, shape, tier, usage, rows, charged } = example
    const prices = catalogue.get(model)?.prices
    if (!prices) throw new Error(`${model} is not on the page`)
    const most = { inputTokens: 1_000_000, outputTokens: 64_000, maxTokens: 64_000, n: 1 }
    const decided = decideUsage({
      bound: { ...most, inputBytes: 1_000_000, tier },
      prices,
      reported: usage,
      shape,
      tier,
      delivered: { inputBytes: 8000, outputBytes: 1000, output: [] },
      counting: { bytesPerToken: 4 },
      embedded: false,
    })
    const lines = linesOf(prices, 'chat', decided.usage)
    const told = lines.map(({ meter, quantity, pricePusd }) => {
      const line = lineOf({ meter, quantity: String(quantity), price: String(pricePusd) })
      const [, units, price, amount] = /^(\S+) at (.+) =\u00a0(.+)$/.exec(line) ?? []
      return [meter, units, price, amount]
    })
    expect(told).toEqual(rows)
    expect([amountText(costOf(lines, 0)), decided.source]).toEqual([
      charged?.[0] ?? '',
      charged?.[1] as 'reported',
    ])
  })
})

test('the table of meters has every one, in order, with the words of pages', () => {
  const rows = [...text.matchAll(/^\| `(\w+)` \| ([^|]+) \| (token|call|run) \|/gm)]
  expect(rows.map(([, meter, words]) => [meter, words])).toEqual(
    meters.map((meter) => [meter, meterWords(meter)]),
  )
})
