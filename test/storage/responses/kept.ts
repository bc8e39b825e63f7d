/** A service that keeps responses, before a scripted model server of each kind. */
import OpenAI from 'openai'
import type { KeyRequest } from '../../../src/access/keys/issue.ts'
import type { KeptItemRow } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { expectSettled, modelToml, upstreamToml } from '../../support/runs.ts'
import { startScripted, type WireName, wireNames } from '../../support/scripted-upstream.ts'
import { type Engine, usd, world } from '../../support/world.ts'

const kinds = { openai: '', anthropic: 'kind = "anthropic"', responses: 'kind = "responses"' }

export const keptToml = (url: string): string =>
  wireNames
    .flatMap((wire) => [
      upstreamToml(wire, url, `breaker_failures = 0\n${kinds[wire]}`),
      modelToml(`${wire}/agent`, `"${wire}:agent"`),
      modelToml(`${wire}/thinker`, `"${wire}:thinker"`, 'features = ["reasoning"]'),
    ])
    .join('\n')
    .replaceAll('context_tokens = 10000', 'context_tokens = 4_000_000')

type Options = { engine?: Engine; toml?: string; now?: number }

export async function serveKept({ engine = 'sqlite', toml = '', now }: Options = {}) {
  const scripted = await startScripted()
  const w = await world({
    engine,
    toml: `${toml}\n${keptToml(scripted.url)}`,
    ...(now === undefined ? {} : { now }),
  })
  const { secret } = await w.key({ balance: 1000n * usd })
  return {
    w,
    secret,
    scripted,
    /** A key beside; of another account if `wish` names one. */
    keyOf: async (wish: Partial<KeyRequest> = {}) =>
      (await w.key({ balance: 10n * usd, ...wish })).secret,
    openai: (apiKey = secret) => new OpenAI({ baseURL: `${w.origin}/v1`, apiKey, maxRetries: 0 }),
    /** Ids of runs are in the order of their milliseconds. */
    ask: (json: object, key = secret, headers: Record<string, string> = {}) => {
      if (now !== undefined) w.advance(1)
      return w.call('/v1/responses', { key, json, headers })
    },
    kept: (): Promise<KeptItemRow[]> =>
      w.db.read((q) => rows(q.select().from(w.db.tables.keptItems))),
    /** What the model server read last, as JSON. */
    read: (): string => {
      const { body } = scripted.account.at(-1) ?? {}
      return JSON.stringify(body)
    },
    async stop() {
      await expectSettled(w)
      await w.stop()
      await scripted.stop()
    },
  }
}

export type Kept = Awaited<ReturnType<typeof serveKept>>
export const eachWire: readonly WireName[] = wireNames

/** What a refusal says, without its request id. */
export async function refusalOf(answer: Response) {
  const { error } = await answer.json()
  const { message, type, param } = error
  return { status: answer.status, message, type, param }
}
