/**
 * A model server on loopback that speaks all three protocols and keeps an account: what it says of
 * each answer that it used, in units by meter. A test compares that with the bill.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { sendJson } from './messages-upstream.ts'
import { chatWire } from './scripted/chat.ts'
import { messagesWire } from './scripted/messages.ts'
import { responsesWire } from './scripted/responses.ts'

/** Units that no other class counts too, by meter. */
export type Units = Record<string, number>

/** A call of a tool, as the server makes it. */
export type Call = { id: string; name: string; args: JsonObject }

/** What the server says: words, or calls of tools after them. */
export type Turn = { thought?: string; words: string[]; calls: Call[] }

/** A request in any of the protocols. */
export type Asked = {
  model: string
  tools: string[]
  /** Turns of the model that the conversation holds already. */
  turns: number
  /** Whether results of tools follow the last thing that the user said. */
  hasResults: boolean
  hasImage: boolean
  isJson: boolean
  stream: boolean
  /** All of the conversation, as JSON. */
  text: string
}

/** How one protocol is read and written. */
export type Wire = {
  /** The meters that it can report beside `input` and `output`. */
  meters: readonly string[]
  read(body: JsonObject): Asked
  usage(units: Units): JsonObject
  whole(turn: Turn, usage: JsonObject, model: string): JsonObject
  /** What stands before the first word, what each word is, and all of a stream. */
  begin(usage: JsonObject, model: string): string
  word(word: string): string
  stream(turn: Turn, usage: JsonObject, model: string): string[]
}

export const wires = { openai: chatWire, anthropic: messagesWire, responses: responsesWire }
export type WireName = keyof typeof wires
export const wireNames = Object.keys(wires) as WireName[]

const paths: Record<string, WireName> = {
  '/v1/chat/completions': 'openai',
  '/v1/messages': 'anthropic',
  '/v1/responses': 'responses',
}

/** An answer as the account has it; one that was cut off has no units, but what was sent. */
export type Entry = {
  wire: WireName
  asked: Asked
  body: JsonObject
  units: Units
  words: number
  isCut: boolean
}

/** Its usual answer, a word a chunk. */
export const said = ['It', ' is', ' sunny', ' in', ' Rome.']
/** What it answers when a JSON schema is asked for. */
export const structured = { city: 'Rome', degrees: 21 }

/** Calls every first tool twice at once, where none has answered; else it says so. */
export function usualTurn({ tools, hasResults, isJson, model }: Asked): Turn {
  const [name] = tools
  const thought = model === 'thinker' ? 'The user wants the weather.' : undefined
  const turn = { ...(thought ? { thought } : {}), words: said, calls: [] }
  if (isJson && (hasResults || !name)) return { ...turn, words: [JSON.stringify(structured)] }
  if (!name || hasResults) return turn
  const calls = ['Rome', 'Bonn'].map((city, at) => ({ id: `call_${at}`, name, args: { city } }))
  return { ...turn, words: [], calls }
}

/** The model `endless` says a word every 5 ms until the other side goes. */
export async function startScripted() {
  const account: Entry[] = []
  const counts = { active: 0 }
  /** `turnFor` may be set: what the next answers say. */
  const scripted = { account, counts, turnFor: usualTurn }
  const answer = async (wireName: WireName, body: JsonObject, response: ServerResponse) => {
    const wire = wires[wireName]
    const asked = wire.read(body)
    const units = unitsOf(wire, asked, account.length)
    const entry: Entry = { wire: wireName, asked, body, units, words: 0, isCut: false }
    account.push(entry)
    const usage = wire.usage(units)
    const turn = scripted.turnFor(asked)
    if (asked.model === 'endless') return sendEndless(response, wire, { asked, usage, entry })
    if (!asked.stream) return sendJson(response, 200, wire.whole(turn, usage, asked.model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(wire.stream(turn, usage, asked.model).join(''))
  }
  const server = createServer(async (request, response) => {
    counts.active++
    response.on('close', () => counts.active--)
    let text = ''
    for await (const piece of request) text += piece
    const wire = paths[(request.url ?? '').split('?')[0] ?? '']
    if (!wire) return sendJson(response, 404, { error: { message: 'no such path' } })
    await answer(wire, JSON.parse(text), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return Object.assign(scripted, {
    url: `http://127.0.0.1:${address.port}/v1`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

export type Scripted = Awaited<ReturnType<typeof startScripted>>

/**
 * Other numbers for every answer; a conversation that goes on was cached before. Agents that write
 * code, before the model `coder`, read more than a test does.
 */
function unitsOf({ meters }: Wire, { turns, hasImage, model }: Asked, place: number): Units {
  const scale = model === 'coder' ? 100 : 1
  const all: Units = {
    input: 7 + (place % 5),
    cache_read: turns > 0 ? 11 : 0,
    cache_write: turns > 0 ? 0 : 3,
    cache_write_1h: turns > 0 ? 0 : 2,
    image_input: hasImage ? 4 : 0,
    output: 6 + (place % 3),
    reasoning: model === 'thinker' ? 5 : 0,
  }
  const known = ['input', 'output', ...meters]
  const had = Object.entries(all).filter(([meter, count]) => known.includes(meter) && count > 0)
  return Object.fromEntries(had.map(([meter, count]) => [meter, count * scale]))
}

type Endless = { asked: Asked; usage: JsonObject; entry: Entry }

async function sendEndless(response: ServerResponse, wire: Wire, { asked, usage, entry }: Endless) {
  entry.isCut = true
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(wire.begin(usage, asked.model))
  while (!response.destroyed) {
    response.write(wire.word(' word'))
    entry.words++
    await Bun.sleep(5)
  }
}
