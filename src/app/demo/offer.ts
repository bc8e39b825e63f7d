/** The models of demonstrations with their prices; their makers are invented. */
import { parse } from 'smol-toml'
import { readModels } from '../../config/model-entries.ts'
import { builtinModels } from '../../models/builtins.ts'
import type { ModelConfig } from '../../models/model-config.ts'

type Price = {
  id: string
  /** The protocol of the model's server, if it has one; `name` is the model's name there. */
  speaks: 'chat' | 'messages' | 'responses'
  name: string
  prices: Record<string, number>
  more?: string
}

/** Prices in pico-USD a token, as configuration has them. */
const models: Price[] = [
  {
    id: 'acme/small',
    speaks: 'chat',
    name: 'small',
    prices: { input_pusd: 250_000, cache_read_pusd: 25_000, output_pusd: 1_250_000 },
    more: 'terminal = true',
  },
  {
    id: 'acme/large',
    speaks: 'chat',
    name: 'large',
    prices: { input_pusd: 3_000_000, cache_read_pusd: 300_000, output_pusd: 15_000_000 },
    more: `[[models.bands]]
above_input_tokens = 100_000
input_pusd = 6_000_000
output_pusd = 22_500_000
[[models.tiers]]
name = "priority"
input_pusd = 6_000_000
output_pusd = 30_000_000`,
  },
  {
    id: 'acme/reasoning',
    speaks: 'chat',
    name: 'reasoning',
    prices: { input_pusd: 10_000_000, output_pusd: 40_000_000, reasoning_pusd: 40_000_000 },
  },
  {
    id: 'borealis/writer-2',
    speaks: 'messages',
    name: 'writer-2',
    prices: {
      input_pusd: 3_000_000,
      cache_read_pusd: 300_000,
      cache_write_pusd: 3_750_000,
      output_pusd: 15_000_000,
    },
  },
  {
    id: 'cobalt/coder-mini',
    speaks: 'responses',
    name: 'coder-mini',
    prices: { input_pusd: 1_100_000, cache_read_pusd: 275_000, output_pusd: 4_400_000 },
  },
]

/** The most that a model of these says, in tokens. */
export const outputTokens = 4096

/** `[[models]]` of a configuration, each served by the upstream that `upstreamOf` names. */
export const modelsToml = (upstreamOf: (speaks: Price['speaks']) => string): string => `
${models.map((model) => tomlOf(model, upstreamOf(model.speaks))).join('')}
[[models]]
id = "acme/embed"
route = ["${upstreamOf('chat')}:embed"]
kind = "embedding"
context_tokens = 32_000
input_pusd = 20_000
`

const tomlOf = ({ id, name, prices, more = '' }: Price, upstream: string): string => `[[models]]
id = "${id}"
route = [{ to = "${upstream}:${name}", cost = { input_pusd = 200_000, output_pusd = 1_000_000 } }]
kind = "chat"
context_tokens = 200_000
max_output_tokens = ${outputTokens}
request_nusd = 50_000
${Object.entries(prices)
  .map(([name, price]) => `${name} = ${price}\n`)
  .join('')}${more}
`

/**
 * The demonstration's models, served by one upstream of this process. The built-in ones are off: a
 * visitor could make their answers a hundred times as long as the question.
 * @throws Error with the faults of this file
 */
export function modelsServedBy(upstream: string): ModelConfig[] {
  const off = builtinModels
    .map(({ id, kind }) => {
      const output = kind === 'chat' ? 'output_pusd = 600_000\n' : ''
      return `[[models]]\nid = "${id}"\ninput_pusd = 150_000\n${output}status = "disabled"\n`
    })
    .join('')
  const problems: string[] = []
  const toml = parse(modelsToml(() => upstream) + off, { integersAsBigInt: true })
  const read = readModels(toml['models'], problems)
  if (problems.length > 0) throw new Error(problems.join('; '))
  return read
}
