import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startAgentUpstream } from '../support/agent-upstream.ts'
import { startMessagesUpstream } from '../support/messages-upstream.ts'
import { startResponsesUpstream } from '../support/responses-upstream.ts'
import { expectSettled, modelToml, upstreamToml } from '../support/runs.ts'
import { usd, world } from '../support/world.ts'

const rates = 'cache_read_pusd = 100_000'

/** A service with one model server of each kind, and the official clients of its three doors. */
export async function serveDoors() {
  const chat = await startAgentUpstream()
  const messages = await startMessagesUpstream()
  const responses = await startResponsesUpstream()
  const toml = [
    upstreamToml('openai', chat.url),
    upstreamToml('anthropic', messages.url, 'kind = "anthropic"'),
    upstreamToml('responses', responses.url, 'kind = "responses"'),
    modelToml('test/openai', '"openai:agent"', rates),
    modelToml('test/anthropic', '"anthropic:far"', `${rates}\npass = ["let_through"]`),
    modelToml('test/responses', '"responses:far"', rates),
    modelToml('test/refused', '"anthropic:refuse-400"'),
    modelToml('test/passing', '"openai:agent"', 'pass = ["let_through"]'),
  ]
  const w = await world({ toml: toml.join('\n') })
  const { secret } = await w.key({ balance: 100n * usd })
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const { pathname, search } = new URL(url instanceof Request ? url.url : url)
    return w.call(pathname + search, init)
  }
  const ours = { baseURL: 'http://localhost:4663', maxRetries: 0, fetch }
  return {
    w,
    secret,
    /** The bodies that the server of Chat Completions saw. */
    get chatSeen() {
      return chat.calls.map(({ body }) => body)
    },
    /** What the server of Anthropic's protocol saw. */
    seen: messages.seen,
    anthropic: new Anthropic({ ...ours, authToken: secret, apiKey: null }),
    openai: new OpenAI({ ...ours, baseURL: `${ours.baseURL}/v1`, apiKey: secret }),
    async stop() {
      await expectSettled(w)
      await w.stop()
      for (const stub of [chat, messages, responses]) await stub.stop()
    },
  }
}

export type Doors = Awaited<ReturnType<typeof serveDoors>>
