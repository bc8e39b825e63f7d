/** The configuration of the showcase: its chain, its operator and the servers of its models. */
import { modelsToml } from '../../src/app/demo/offer.ts'

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
${modelsToml((speaks) => speaks)}[[plans]]
id = "builder"
[[plans]]
id = "scale"
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
