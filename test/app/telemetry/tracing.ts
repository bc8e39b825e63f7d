import { embeddingToml, modelToml, upstreamToml } from '../../support/runs.ts'
import type { StubUpstream } from '../../support/stub-upstream.ts'
import { usd, world } from '../../support/world.ts'

/** What its collector wants to see of it. */
export const credential = 'Bearer collectors-own-secret'

/** A service that exports to a collector, and a key of it. */
export async function tracing(url: string, upstream: StubUpstream, more = '') {
  const models = [
    modelToml('far/chat', '"chat:normal"'),
    modelToml('far/messages', '"messages:normal"'),
    modelToml('far/responses', '"responses:normal"'),
    modelToml('far/second', '"chat:status-500", "messages:normal"'),
    modelToml('far/none', '"chat:status-429"'),
    modelToml('far/cut', '"chat:cut-2"'),
    embeddingToml('far/embed', '"chat:embed"'),
  ]
  const toml = [
    `[telemetry]\nendpoint = "${url}/"\nheaders = { authorization = "${credential}" }\n${more}\n`,
    upstreamToml('chat', upstream.url),
    upstreamToml('messages', upstream.url, 'kind = "anthropic"\nbreaker_failures = 0'),
    upstreamToml('responses', upstream.url, 'kind = "responses"\nbreaker_failures = 0'),
    ...models,
  ]
  const w = await world({ toml: toml.join('') })
  const { secret } = await w.key({ balance: usd })
  const ask = async (path: string, json: object, headers: Record<string, string> = {}) => {
    const answer = await w.call(path, { key: secret, json, headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const stop = async () => {
    await w.deps.telemetry?.stop(1000)
    await w.stop()
  }
  return { w, secret, ask, stop }
}
