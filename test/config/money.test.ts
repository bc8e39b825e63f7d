import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { diffModels } from '../../src/config/model-diff.ts'
import { rawModels, withModels } from '../../src/config/model-text.ts'
import { toDollars } from '../../src/config/money-values.ts'
import { oddPrices } from '../../src/config/odd-prices.ts'
import { maxNusd } from '../../src/kernel/money.ts'
import { configOf, model, problemsOf, upstream } from './load.ts'

const exact = model.replace('input_pusd = 150_000\noutput_pusd = 600_000\n', '')
const withPrices = (text: string) => `${upstream}${exact}${text}`
const pricesOf = (text: string) => configOf({ fileText: withPrices(text) }).models[0]

describe('money in dollars', () => {
  test('a price a million tokens is the exact price in pico-dollars', () => {
    const read = pricesOf('input = "$0.15/M"\noutput = "$0.6 / M"\nrequest = "$0.001"\n')
    expect(read).toMatchObject({
      input_pusd: 150_000n,
      output_pusd: 600_000n,
      request_nusd: 1_000_000n,
    })
  })

  test('bands, tiers, costs of a route, plans and single settings take dollars too', () => {
    const fileText = `${upstream}${exact.replace(
      '["local:small:8b"]',
      '[{ to = "local:small:8b", cost = { input = "$0.1/M", output = "$0.5/M" } }]',
    )}input = "$0.15/M"
output = "$0.6/M"
[[models.bands]]
above_input_tokens = 1000
input = "$0.3/M"
[[models.tiers]]
name = "priority"
output = "$1.2/M"
[[plans]]
id = "builder"
price = "$25"
[deposits]
min = "$0.50"
soft_limit_per_day = "$200"
[terminal]
daily_budget = "$1.25"
`
    const config = configOf({ fileText })
    const [read] = config.models
    expect(read?.bands?.[0]?.input_pusd).toBe(300_000n)
    expect(read?.tiers?.[0]?.output_pusd).toBe(1_200_000n)
    const [step] = read?.route ?? []
    expect(typeof step !== 'string' && step?.cost).toMatchObject({ input_pusd: 100_000n })
    expect(config.plans[0]?.price_nusd).toBe(25_000_000_000n)
    expect(config.deposits).toMatchObject({
      min_nusd: 500_000_000n,
      soft_limit_nusd_per_day: 200_000_000_000n,
    })
    expect(config.terminal.daily_budget_nusd).toBe(1_250_000_000n)
  })

  test('the exact setting takes dollars as well, also in a variable', () => {
    expect(pricesOf('input_pusd = "$3/M"\noutput_pusd = 15_000_000\n')?.input_pusd).toBe(3_000_000n)
    const env = { COUNTERFOIL_TERMINAL_DAILY_BUDGET_NUSD: '$2' }
    expect(configOf({ env }).terminal.daily_budget_nusd).toBe(2_000_000_000n)
  })

  test('what is not exact, has the wrong unit or is there twice is refused by its name', () => {
    const refused = (text: string) =>
      problemsOf({ fileText: withPrices(`output = "$1/M"\n${text}`) }).join('\n')
    expect(refused('input = "$0.0000001/M"')).toContain('models[1].input must be dollars a million')
    expect(refused('input = "$0.15"')).toContain('such as "$0.15/M"')
    expect(refused('input = 3')).toContain('models[1].input must be dollars')
    expect(refused('input = "0.15/M"')).toContain('models[1].input must be dollars')
    expect(refused('input = "$0.15/M"\ninput_pusd = 150_000')).toContain('not both')
    expect(problemsOf({ fileText: '[[plans]]\nid = "team"\nprice = "$20/M"' }).join()).toContain(
      'plans[1].price must be dollars as text, such as "$20"',
    )
    expect(problemsOf({ fileText: '[deposits]\nmni = "$1"' }).join()).toContain('did you mean min?')
  })

  test('every amount and every price is the same after it was written in dollars', () => {
    const some = fc.bigInt({ min: 0n, max: maxNusd })
    fc.assert(
      fc.property(some, some, (price, amount) => {
        const text = `input = "${toDollars(price, 'pUSD')}"\noutput = "$0/M"\n`
        const read = configOf({
          fileText: `${withPrices(text)}[[plans]]\nid = "team"\nprice = "${toDollars(amount, 'nUSD')}"`,
        })
        return read.models[0]?.input_pusd === price && read.plans[0]?.price_nusd === amount
      }),
      { numRuns: 60 },
    )
  })

  test('an import changes a price in dollars into a price in dollars', () => {
    const text = withPrices('input = "$0.15/M" # of March\noutput = "$0.6/M"\n')
    const entries = rawModels(text).map((entry) => ({
      ...entry,
      input: undefined,
      output: undefined,
      input_pusd: 200_000n,
      output_pusd: 600_000n,
    }))
    const wanted = JSON.parse(
      JSON.stringify(entries, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)),
      (_, v) => (typeof v === 'string' && /^\d+n$/.test(v) ? BigInt(v.slice(0, -1)) : v),
    )
    const diff = diffModels(rawModels(text), wanted, undefined)
    expect(diff.changed.map(({ set, remove }) => ({ set, remove }))).toEqual([
      { set: { input: '$0.20/M' }, remove: [] },
    ])
    expect(withModels(text, diff.changed, [])).toBe(text.replace('$0.15/M', '$0.20/M'))
    const same = diffModels(rawModels(text), [{ ...wanted[0], input_pusd: 150_000n }], undefined)
    expect(same).toMatchObject({ changed: [], unchanged: 1 })
  })
})

describe('prices that look like a slip of the unit', () => {
  const odd = (text: string) => oddPrices(configOf({ fileText: withPrices(text) }))

  test('a price a thousand or a million times off is said in dollars a million tokens', () => {
    expect(odd('input_pusd = 3\noutput_pusd = 15\n')).toEqual([
      'input_pusd of acme/small is $0.000003 a million tokens',
      'output_pusd of acme/small is $0.000015 a million tokens',
    ])
    expect(odd('input_pusd = 3_000_000\noutput_pusd = 15_000\n')).toEqual([
      'acme/small reads for $3.00 a million tokens and writes for $0.015 a million tokens',
    ])
    expect(odd('input_pusd = 3_000_000_000\noutput_pusd = 15_000_000_000\n')).toHaveLength(2)
    expect(odd('input = "$3/M"\noutput = "$15/M"\nrequest_nusd = 5\n')).toEqual([
      'request_nusd of acme/small is $0.000000005 each',
    ])
  })

  test('plans, budgets and costs are looked at too', () => {
    const fine = 'input = "$0.15/M"\noutput = "$0.6/M"\n'
    expect(odd(`${fine}[[plans]]\nid = "builder"\nprice_nusd = 20\n`)).toEqual([
      'price_nusd of the plan builder is $0.00000002 a period',
    ])
    expect(odd(`${fine}[terminal]\ndaily_budget_nusd = 5\n`)).toEqual([
      'terminal.daily_budget_nusd is $0.000000005',
    ])
    const cost = withPrices(fine).replace(
      '["local:small:8b"]',
      '[{ to = "local:small:8b", cost = { input_pusd = 150, output_pusd = 600 } }]',
    )
    expect(oddPrices(configOf({ fileText: cost }))).toHaveLength(2)
  })

  test('prices of real models, free ones and the defaults are not odd', () => {
    const real = [
      ['0.15', '0.6'],
      ['150', '600'],
      ['0.02', '0.02'],
      ['0.005', '0.01'],
      ['0', '0'],
      ['0', '2.5'],
    ]
    for (const [input, output] of real) {
      expect(odd(`input = "$${input}/M"\noutput = "$${output}/M"\n`)).toEqual([])
    }
    expect(oddPrices(configOf())).toEqual([])
  })
})
