/** The configuration of the showcase: its models with prices, its chain and its operator. */

type Price = {
  id: string
  route: string
  prices: Record<string, number>
  more?: string
}

/** Prices in pico-USD a token, as configuration has them. */
const models: Price[] = [
  {
    id: 'acme/small',
    route: 'chat:small',
    prices: { input_pusd: 250_000, cache_read_pusd: 25_000, output_pusd: 1_250_000 },
    more: 'terminal = true',
  },
  {
    id: 'acme/large',
    route: 'chat:large',
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
    route: 'chat:reasoning',
    prices: { input_pusd: 10_000_000, output_pusd: 40_000_000, reasoning_pusd: 40_000_000 },
  },
  {
    id: 'borealis/writer-2',
    route: 'messages:writer-2',
    prices: {
      input_pusd: 3_000_000,
      cache_read_pusd: 300_000,
      cache_write_pusd: 3_750_000,
      output_pusd: 15_000_000,
    },
  },
  {
    id: 'cobalt/coder-mini',
    route: 'responses:coder-mini',
    prices: { input_pusd: 1_100_000, cache_read_pusd: 275_000, output_pusd: 4_400_000 },
  },
]

type Places = { data: string; port: number; upstream: string; rpc: string; operator: string } & {
  registry: string
  token: string
  treasury: string
}

export function showcaseToml(at: Places): string {
  return `base_url = "http://localhost:${at.port}"
listen = "127.0.0.1:${at.port}"
data = ${JSON.stringify(at.data)}
database_url = ${JSON.stringify(`sqlite:${at.data}/counterfoil.db`)}
admins = ["${at.operator}"]
[limits]
stop_grace_s = 2
[terminal]
daily_budget_nusd = 500_000_000
asks_per_day = 500
[chain]
rpc_urls = ["${at.rpc}"]
treasury = "${at.treasury}"
token = "${at.token}"
[deposits]
soft_limit_nusd_per_day = 10_000_000_000
[anchors]
registry = "${at.registry}"
min_receipts = 25
min_interval_s = 15
max_delay_s = 120
${['chat', 'messages', 'responses'].map((name) => upstreamOf(name, at.upstream)).join('')}
${models.map(modelOf).join('')}
[[models]]
id = "acme/embed"
route = ["chat:embed"]
kind = "embedding"
context_tokens = 32_000
input_pusd = 20_000
[[models]]
id = "counterfoil/echo-1"
input_pusd = 150_000
output_pusd = 600_000
`
}

const kinds: Record<string, string> = { chat: 'openai', messages: 'anthropic' }

const upstreamOf = (id: string, url: string): string => `[[upstreams]]
id = "${id}"
kind = "${kinds[id] ?? id}"
base_url = "${url}"
breaker_failures = 0
`

const modelOf = ({ id, route, prices, more = '' }: Price): string => `[[models]]
id = "${id}"
route = [{ to = "${route}", cost = { input_pusd = 200_000, output_pusd = 1_000_000 } }]
kind = "chat"
context_tokens = 200_000
max_output_tokens = 4096
request_nusd = 50_000
${Object.entries(prices)
  .map(([name, price]) => `${name} = ${price}\n`)
  .join('')}${more}
`
