/** One run of a demonstration, through one of the doors that programs use. */
import type { Dice } from './dice.ts'
import type { Call, OwnKey } from './people.ts'
import { promptOf, questions } from './words.ts'

export type RunRecord = {
  status: number
  /** The id of the receipt; absent if the run left none or its stream hid it. */
  receipt: string | undefined
}

type Door = (asked: { dice: Dice; prompt: string; tags: Record<string, string> }) => {
  path: string
  json: object
  tagged?: boolean
}

const chatModels = ['acme/small', 'acme/small', 'acme/large', 'acme/reasoning'] as const

const doors: [Door, ...Door[]] = [
  ({ dice, prompt }) => ({
    path: '/v1/chat/completions',
    tagged: true,
    json: { model: dice.pick(chatModels), messages: messagesOf(prompt), stream: dice.chance(0.5) },
  }),
  ({ dice, prompt, tags }) => ({
    path: '/v1/runs',
    json: { model: dice.pick(chatModels), input: prompt, max_output_tokens: 800, tags },
  }),
  ({ dice, prompt }) => ({
    path: '/v1/messages',
    tagged: true,
    json: {
      model: 'borealis/writer-2',
      max_tokens: 1024,
      messages: messagesOf(prompt),
      stream: dice.chance(0.5),
    },
  }),
  ({ dice, prompt }) => ({
    path: '/v1/responses',
    tagged: true,
    json: { model: 'cobalt/coder-mini', input: prompt, stream: dice.chance(0.5) },
  }),
  ({ prompt }) => ({
    path: '/v1/embeddings',
    tagged: true,
    json: { model: 'acme/embed', input: prompt.split('\n').slice(0, 20) },
  }),
]

const messagesOf = (prompt: string) => [
  { role: 'system', content: 'You are a careful assistant of a small company.' },
  { role: 'user', content: prompt },
]

const tasks = ['support', 'reports', 'review', 'search', 'translation'] as const

/** The share of streams that their client stops. */
const stopsThisOften = 0.09

export async function ask(call: Call, key: OwnKey, dice: Dice): Promise<RunRecord> {
  const prompt = promptOf(dice.pick(questions), dice.chance(0.45) ? dice.between(40, 420) : 3)
  const tags = { task: dice.pick(tasks), ...(dice.chance(0.4) ? { team: 'north' } : {}) }
  // The first doors are used most.
  const door = doors[Math.min(dice.between(0, 9), dice.between(0, doors.length))] ?? doors[0]
  const { path, json, tagged } = door({ dice, prompt, tags })
  const list = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
  const headers: Record<string, string> = tagged ? { 'x-counterfoil-tags': list.join(',') } : {}
  const stop = new AbortController()
  const stopAt = 'stream' in json && json.stream && dice.chance(stopsThisOften) ? 25 : undefined
  const init = { key: key.secret, json, headers, signal: stop.signal }
  const answer = await call(path, init)
  const receipt = answer.headers.get('x-receipt-id') ?? undefined
  if (stopAt === undefined || !answer.ok) {
    await answer.text().catch(() => '')
    return { status: answer.status, receipt: answer.ok ? receipt : undefined }
  }
  let seen = 0
  for await (const bytes of answer.body ?? []) {
    seen += bytes.length
    if (seen > stopAt * 200) break
  }
  stop.abort()
  return { status: answer.status, receipt }
}
