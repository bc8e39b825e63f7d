import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../src/models/upstream/upstream.ts'
import { type Speech, speechAt } from './stub-speech.ts'

/** One request as the stub saw it. */
export type StubCall = { path: string; headers: IncomingHttpHeaders; body: JsonObject }

/** How the stub answers one call, raw. It must end or destroy the answer, or leave it hanging. */
export type StubHandler = (call: StubCall, response: ServerResponse) => void | Promise<void>

export type StubUpstream = {
  /** What a configuration names as `base_url`. */
  url: string
  calls: StubCall[]
  counts: { requests: number; active: number; cut: number }
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type StubOptions = {
  /** Refuses any other bearer with 401. */
  apiKey?: string
  /** Answers instead of the behaviours below. */
  handler?: StubHandler
  /** Where the behaviour `redirect` points. */
  redirectTo?: string
}

/**
 * A server on a loopback port that speaks Chat Completions, Anthropic's Messages and OpenAI's
 * Responses, whichever its path asks for, and behaves as the request's model name says:
 * `normal`, `status-429`, `leak` (an error that repeats its own Authorization), `redirect`,
 * `bomb` (50 MB in 50 kB of gzip), `stall` (never answers), `text` (no JSON), `shape` (other
 * JSON), `usage-<lie>` (negative, fractional, text, huge, missing, zero, exact), and in streams
 * `cut-<k>` (ends after k words), `reset-<k>` (the connection breaks), `stall-<k>`, `fault-<k>`
 * (an error in band), `broken-<k>` (no JSON), `undone` (finishes without its last event), `slow` (a word
 * every 5 ms, for ever). An answer is the words of {@link stubWords}.
 */
export async function startStubUpstream(options: StubOptions = {}): Promise<StubUpstream> {
  const calls: StubCall[] = []
  const counts = { requests: 0, active: 0, cut: 0 }
  const server = createServer(async (request, response) => {
    counts.requests++
    counts.active++
    response.on('close', () => {
      counts.active--
      if (!response.writableFinished) counts.cut++
    })
    let text = ''
    for await (const piece of request) text += piece
    const body: JsonObject = text === '' ? {} : JSON.parse(text)
    const call = { path: request.url ?? '', headers: request.headers, body }
    calls.push(call)
    if (options.apiKey && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      return sendJson(response, 401, { error: { message: 'bad key' } })
    }
    await (options.handler ?? behave(options))(call, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the stub has no port')
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${address.port}/v1`
  return { url, calls, counts, stop, [Symbol.asyncDispose]: stop }
}

/** What the stub says, a word a chunk. */
export const stubWords = ['The', ' quick', ' brown', ' fox', ' jumps']

/** The usage it reports when it does not lie. */
export const stubUsage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }

const lies: Record<string, JsonObject | undefined> = {
  exact: stubUsage,
  negative: { prompt_tokens: -7, completion_tokens: -5 },
  fractional: { prompt_tokens: 7.5, completion_tokens: 5.5 },
  text: { prompt_tokens: '7', completion_tokens: '5' },
  huge: { prompt_tokens: 2 ** 50, completion_tokens: 2 ** 50 },
  zero: { prompt_tokens: 7, completion_tokens: 0 },
  missing: undefined,
}

function behave(options: StubOptions): StubHandler {
  return async (call, response) => {
    const model = String(call.body['model'])
    const dash = model.lastIndexOf('-')
    const name = dash === -1 ? model : model.slice(0, dash)
    const argument = dash === -1 ? '' : model.slice(dash + 1)
    if (name === 'status') return sendJson(response, Number(argument), { error: { message: 'no' } })
    if (name === 'leak') {
      const message = `bad key ${call.headers.authorization} at ${call.path}`
      return sendJson(response, 500, { error: { message } })
    }
    if (name === 'redirect') {
      response.writeHead(307, { location: options.redirectTo ?? call.path }).end()
      return
    }
    if (name === 'stall' && argument === '') return
    if (name === 'bomb') return sendBomb(response, call.body['stream'] === true)
    if (name === 'text') return void response.end('<html>busy</html>')
    if (name === 'shape') return sendJson(response, 200, { choices: 'none' })
    const usage = name === 'usage' ? lies[argument] : stubUsage
    if (call.path.endsWith('/embeddings')) return sendEmbeddings(call, response, usage)
    const speech = speechAt(call.path, model)
    if (call.body['stream'] !== true) {
      return sendJson(response, 200, speech.whole(stubWords.join(''), usage))
    }
    await sendStream(response, speech, { name, count: Number(argument), usage })
  }
}

type Plan = { name: string; count: number; usage: JsonObject | undefined }

async function sendStream(response: ServerResponse, speech: Speech, { name, count, usage }: Plan) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = async (frames: string) => {
    response.write(frames)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const ends: Record<string, () => unknown> = {
    cut: () => response.end(),
    reset: async () => {
      // A reset takes back what was not read yet, so that is given a moment.
      response.flushHeaders()
      await Bun.sleep(20)
      response.destroy()
    },
    stall: () => undefined,
    fault: async () => {
      await send(speech.fault('the key sk-upstream is out of money'))
      response.end()
    },
    broken: async () => {
      await send('data: {"choices": oops\n\n')
      response.end()
    },
  }
  const end = ends[name]
  if (!end || count > 0) await send(speech.begin(usage))
  if (name === 'slow') {
    while (!response.destroyed) {
      await send(speech.word(' word'))
      await Bun.sleep(5)
    }
    return
  }
  for (const content of end ? stubWords.slice(0, count) : stubWords) {
    await send(speech.word(content))
  }
  if (end) {
    await end()
    return
  }
  for (const frames of speech.end(usage)) await send(frames)
  if (name !== 'undone') await send(speech.done(usage))
  response.end()
}

function sendEmbeddings(call: StubCall, response: ServerResponse, usage: JsonObject | undefined) {
  const input = call.body['input'] ?? ''
  const data = (Array.isArray(input) ? input : [input]).map((_, index) => ({
    object: 'embedding',
    index,
    embedding: [0.6, 0.8],
  }))
  const model = call.body['model'] ?? ''
  sendJson(response, 200, { object: 'list', data, model, ...(usage ? { usage } : {}) })
}

/** Gzip although no one accepts it, as a hostile server would. */
function sendBomb(response: ServerResponse, stream: boolean) {
  const type = stream ? 'text/event-stream' : 'application/json'
  response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' })
  // Short comment lines pass every limit of a line or an event: only the total can stop them.
  response.end(gzipSync(Buffer.alloc(50_000_000, stream ? ':\n' : ' ')))
}

function sendJson(response: ServerResponse, status: number, body: JsonObject) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
