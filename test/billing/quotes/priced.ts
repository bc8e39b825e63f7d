import type { Door } from '../../support/doors.ts'
import { upstreamToml } from '../../support/runs.ts'
import { configOf, type World } from '../../support/world.ts'

/** A chat model `stub/normal`, `stub/slow` and so on, at these pico-USD a token read. */
export const pricedToml = (url: string, names: readonly string[], pusd: number): string =>
  upstreamToml('stub', url) +
  names
    .map(
      (name) => `[[models]]
id = "stub/${name}"
route = ["stub:${name}"]
kind = "chat"
context_tokens = 10000
max_output_tokens = 1000
input_pusd = ${pusd}
cache_read_pusd = ${pusd / 10}
output_pusd = ${pusd * 2}
request_nusd = 7
[[models.bands]]
above_input_tokens = 2000
output_pusd = ${pusd * 3}
[[models.tiers]]
name = "priority"
input_pusd = ${pusd * 4}
output_pusd = ${pusd * 8}
`,
    )
    .join('')

/** Takes on other prices, as SIGHUP does. */
export const reprice = (w: World, toml: string): Promise<void> =>
  w.deps.adopt({ ...configOf(toml), listen: { hostname: '127.0.0.1', port: 0 } })

export type QuoteAnswer = {
  id: string
  max_nusd: number
  uses_left: number
  digest: string
  signature: string
  quote: { [member: string]: unknown; rates: { meter: string; price: string }[] }
}

const asked = { model: 'stub/normal', max_input_tokens: 500, max_output_tokens: 100, valid_s: 600 }

export const askQuote = (w: World, key: string, more: object = {}, headers = {}) =>
  w.call('/v1/quotes', { key, headers, json: { ...asked, ...more } })

export async function quoteOf(w: World, key: string, more: object = {}): Promise<QuoteAnswer> {
  const answer = await askQuote(w, key, more)
  if (!answer.ok) throw new Error(await answer.text())
  return answer.json()
}

/** Runs through a door with a quote. */
export const runWith = (
  w: World,
  key: string,
  quote: string,
  door: Pick<Door, 'path' | 'body'>,
  more: { stream?: boolean; most?: number; model?: string; text?: string } = {},
) =>
  w.call(door.path, {
    key,
    headers: { 'x-counterfoil-quote': quote },
    json: door.body({ model: 'stub/normal', text: 'hi', most: 50, ...more }),
  })

export const receiptOf = async (w: World, key: string, id: string) =>
  (await w.call(`/v1/receipts/${id}`, { key })).json()
