import { scopes } from '../../../src/access/keys/key.ts'
import { eventsOf, modelToml, upstreamToml } from '../../support/runs.ts'
import { usd, type World } from '../../support/world.ts'

export const path = '/v1/terminal/run'

/** 2026-06-15, a Monday, at noon UTC. */
export const noon = Date.UTC(2026, 5, 15, 12)
export const midnight = '2026-06-16T00:00:00.000Z'

/** Proxies that are believed: tests are anyone who they say they are. */
export const believed = 'trusted_proxies = ["127.0.0.1", "::1"]\n'

/** A model that costs money and answers in the terminal, and the service's daily budget. */
export const pricedToml = (url: string, budget: number, names = ['normal']): string =>
  `[terminal]\ndaily_budget_nusd = ${budget}\n${upstreamToml('stub', url)}` +
  names.map((name) => modelToml(`stub/${name}`, `"stub:${name}"`, 'terminal = true')).join('')

export type Result = {
  object: string
  command: string
  lines: string[]
  data: Record<string, unknown>
  receipt?: { id: string; digest: string; url: string; page: string; cost_nusd: number }
  allowance: { remaining: number; resets_at: string }
}

export type Fault = {
  type: string
  message: string
  param: string | null
  metadata?: Record<string, unknown>
}

/** Sends a body as someone at `from`, where a proxy is believed. */
export const send = (w: World, json: unknown, from?: string): Promise<Response> =>
  w.call(path, { json, headers: from === undefined ? {} : { 'x-forwarded-for': from } })

export const run = async (w: World, command: string, from?: string): Promise<Result> => {
  const answer = await send(w, { command }, from)
  if (answer.status !== 200) throw new Error(`${command}: ${await answer.text()}`)
  return answer.json()
}

/** A command that is refused: its status, its error and when to come back. */
export async function refusal(w: World, json: unknown, from?: string) {
  const answer = await send(w, json, from)
  const { error }: { error: Fault } = await answer.json()
  return { status: answer.status, error, retryAfter: answer.headers.get('retry-after') }
}

export async function events(answer: Response) {
  const frames = eventsOf(await answer.text())
  return frames.map((data) => JSON.parse(data) as StreamEvent)
}

type StreamEvent = { type?: string; text?: string; result?: Result; error?: Fault }

/** A receipt of someone else, which no one but they may see. */
export async function privateReceipt(w: World): Promise<string> {
  const { secret } = await w.key({ balance: usd, scopes: [...scopes] })
  const answer = await w.call('/v1/chat/completions', {
    key: secret,
    json: { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'mine' }] },
  })
  return (await answer.json()).receipt.id
}
