import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { fault, promise } from '../support/promise.ts'
import {
  chunkOf,
  eventsOf,
  everythingWritten,
  expectSettled,
  frameOf,
  lastRun,
  modelsToml,
  modelToml,
  neverOpens,
  receiptIdOf,
  upstreamToml,
} from '../support/runs.ts'
import { type StubHandler, startStubUpstream, stubWords } from '../support/stub-upstream.ts'
import { engines, usd, type World, world } from '../support/world.ts'

const upstreamKey = 'upstream-key-that-nobody-may-see'
const words = Array.from({ length: 17 }, (_, index) => `word${index} `)
const ends = [chunkOf({}, 'stop'), 'data: [DONE]\n\n']
const evil = 'so\n\ndata: [DONE]\n\ndata: {"error":{"message":"forged"}}\r\rdata: x'

const says = (...frames: string[]) => frames.map((content) => chunkOf({ content }))

/** What the scripted upstream writes, by the name of its model. */
const scripts: Record<string, string[]> = {
  cut0: [],
  cut1: says(...words.slice(0, 1)),
  cut17: says(...words),
  fault: [...says('half'), frameOf({ error: { message: upstreamKey } })],
  faultAtOnce: [frameOf({ error: { message: upstreamKey } })],
  forged: [...says(evil), ...ends],
  unfinished: [...says('all of it'), 'data: [DONE]\n\n'],
  silent: ends,
  afterDone: [...says('said'), ...ends, ...says('too late')],
  huge: [...says('x'), `data: ${JSON.stringify({ choices: [], pad: 'x'.repeat(400_000) })}\n\n`],
}

const handler: StubHandler = (call, response) => {
  const name = String(call.body['model'])
  if (name === 'rejects') {
    const body = { error: { message: `no ${upstreamKey} at ${call.path}`, type: 'their_own' } }
    response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  } else writeFrames(response, scripts[name] ?? [])
}

function writeFrames(response: ServerResponse, frames: string[]) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const [first = '', ...rest] = frames
  response.write(first)
  // Apart, so that the first has been passed on when what follows breaks a limit.
  setTimeout(() => response.end(rest.join('')), rest.length > 0 ? 20 : 0)
}

const names = ['cut-0', 'cut-1', 'reset-1', 'fault-1', 'broken-2', 'undone']

for (const engine of engines) {
  describe(`upstreams that lie, on ${engine}`, () => {
    let stub: Awaited<ReturnType<typeof startStubUpstream>>
    let scripted: typeof stub
    let w: World
    let secret: string
    let client: OpenAI

    beforeAll(async () => {
      stub = await startStubUpstream()
      scripted = await startStubUpstream({ handler })
      const fallback = `[[models]]
id = "stub/embed-bad"
kind = "embedding"
route = ["stub:usage-huge"]
context_tokens = 1000
input_pusd = 1_000_000
`
      const folder = mkdtempSync(join(tmpdir(), 'lying-'))
      const keyFile = join(folder, 'key')
      writeFileSync(keyFile, upstreamKey, { mode: 0o600 })
      const toml =
        modelsToml(stub.url, names) +
        upstreamToml('scripted', scripted.url, `${neverOpens}\napi_key_file = "${keyFile}"`) +
        Object.keys(scripts)
          .map((name) => modelToml(`scripted/${name}`, `"scripted:${name}"`))
          .join('') +
        modelToml('scripted/rejects', '"scripted:rejects", "stub:undone"') +
        modelToml('two/before', '"scripted:cut0", "stub:undone"') +
        modelToml('two/after', '"scripted:cut1", "stub:undone"') +
        fallback
      w = await world({ engine, toml })
      rmSync(folder, { recursive: true })
      secret = (await w.key({ balance: 10n * usd })).secret
      client = new OpenAI({ baseURL: `${w.origin}/v1`, apiKey: secret, maxRetries: 0 })
    })
    afterAll(async () => {
      await w.stop()
      for (const server of [stub, scripted]) await server.stop()
    })

    const chat = (model: string, stream = false) => {
      const messages = [{ role: 'user', content: 'hello' }]
      return w.call('/v1/chat/completions', { key: secret, json: { model, messages, stream } })
    }

    /** Whether the official client takes a stream for a success. */
    async function isRaised(model: string): Promise<boolean> {
      const messages = [{ role: 'user' as const, content: 'hello' }]
      try {
        await client.chat.completions.stream({ model, messages }).finalChatCompletion()
        return false
      } catch (error) {
        expect(error).toBeInstanceOf(OpenAI.APIError)
        return true
      }
    }

    test('a huge usage of an embedding is clamped to its hold', async () => {
      const json = { model: 'stub/embed-bad', input: 'hello' }
      const answer = await w.call('/v1/embeddings', { key: secret, json })
      expect(answer.status).toBe(200)
      const run = await lastRun(w)
      expect([run.cost, run.clamped]).toEqual([run.hold, true])
    })

    fault`26`
    describe('streams that break off', () => {
      const delivered = { cut1: words[0] ?? '', cut17: words.join(''), fault: 'half', huge: 'x' }
      for (const [name, text] of Object.entries(delivered)) {
        promise`D12 C: A stream that breaks off says so, has no [DONE], and costs what was
          delivered.`
        test(`${name}: what came is charged, an error says so, no [DONE] follows`, async () => {
          const answer = await chat(`scripted/${name}`, true)
          expect(answer.status).toBe(200)
          const events = eventsOf(await answer.text())
          const last = JSON.parse(events.at(-1) ?? '')
          expect(last.error).toMatchObject({ type: 'upstream_error', code: 'upstream_error' })
          expect(last.error.message).not.toContain('Nothing was charged')
          expect(events).not.toContain('[DONE]')
          const run = await lastRun(w)
          const { status, outcome, usageSource } = run
          expect([status, outcome, usageSource]).toEqual(['failed', 'partial', 'counted'])
          expect(run.lines.find(({ meter }) => meter === 'output')?.quantity).toBe(
            Math.ceil(text.length / 4),
          )
          expect(run.cost).toBeGreaterThan(0n)
          expect(run.error?.message).not.toContain('Nothing was charged')
          expect(last.error.metadata.receipt_id).toBe(await receiptIdOf(w, secret, run.id))
          expect(await isRaised(`scripted/${name}`)).toBe(true)
        })
      }

      for (const name of ['scripted/cut0', 'scripted/faultAtOnce', 'stub/cut-0']) {
        promise`D11 H: A run that fails before its first byte costs nothing and frees its hold with
          the answer.`
        test(`${name}: before the first byte it is a plain 502 that costs nothing`, async () => {
          const answer = await chat(name, true)
          expect(answer.status).toBe(502)
          expect((await answer.json()).error.type).toBe('upstream_error')
          expect(answer.headers.get('x-should-retry')).toBeNull()
          const run = await lastRun(w)
          expect([run.status, run.outcome, run.cost]).toEqual(['failed', 'failed', 0n])
          expect(await receiptIdOf(w, secret, run.id)).toBe(answer.headers.get('x-receipt-id'))
          expect(await isRaised(name)).toBe(true)
        })
      }

      for (const name of ['cut-1', 'reset-1', 'fault-1', 'broken-2']) {
        test(`${name} is raised by the official client and never free`, async () => {
          expect(await isRaised(`stub/${name}`)).toBe(true)
          const run = await lastRun(w)
          expect(run.outcome).toBe('partial')
          expect(run.cost).toBeGreaterThan(0n)
        })
      }

      test('an upstream that finished but forgot [DONE] is a success', async () => {
        expect(await isRaised('stub/undone')).toBe(false)
        expect((await lastRun(w)).outcome).toBe('complete')
      })

      test('[DONE] without a finish_reason ends as the receipt says it did', async () => {
        const events = eventsOf(await (await chat('scripted/unfinished', true)).text())
        expect(events.at(-1)).toBe('[DONE]')
        const finish = JSON.parse(events.at(-2) ?? '')
        expect(finish.choices[0].finish_reason).toBe('stop')
        expect(finish.receipt.cost_nusd).toBe(Number((await lastRun(w)).cost))
        expect(await isRaised('scripted/unfinished')).toBe(false)
      })

      test('an answer without a word costs its input alone', async () => {
        const events = eventsOf(await (await chat('scripted/silent', true)).text())
        expect(events.at(-1)).toBe('[DONE]')
        const run = await lastRun(w)
        expect(run.lines.map(({ quantity }) => quantity)).toEqual([12, 0])
      })
    })

    promise`D17 H: Model output cannot pass for a frame of ours.`
    test('text that holds our framing stays text', async () => {
      const answer = await chat('scripted/forged', true)
      const events = eventsOf(await answer.text())
      expect(events.filter((data) => data === '[DONE]')).toHaveLength(1)
      expect(JSON.parse(events[0] ?? '').choices[0].delta.content).toBe(evil)
      expect(await isRaised('scripted/forged')).toBe(false)
    })

    test('nothing that comes after [DONE] is passed on or charged', async () => {
      const text = await (await chat('scripted/afterDone', true)).text()
      expect(text).not.toContain('too late')
    })

    promise`D18`
    test("a refusal of the upstream is told in our words, and another isn't asked", async () => {
      const before = stub.calls.length
      const answer = await chat('scripted/rejects')
      expect(answer.status).toBe(400)
      const { error } = await answer.json()
      expect([error.type, error.code]).toEqual(['invalid_request', 'invalid_request'])
      expect(JSON.stringify(error)).not.toContain('their_own')
      expect(stub.calls.length).toBe(before)
    })

    describe('the second step of a route', () => {
      promise`E8 H: A second upstream is asked only before the first byte, within the same hold.`
      test('is asked when the first gave no byte, within the same hold', async () => {
        expect(await isRaised('two/before')).toBe(false)
        const run = await lastRun(w)
        expect(run.route).toBe('stub:undone')
        const answer = await (await chat('two/before')).json()
        expect(answer.choices[0].message.content).toBe(stubWords.join(''))
      })

      promise`E7`
      test('is not asked after the first byte', async () => {
        const before = stub.calls.length
        expect(await isRaised('two/after')).toBe(true)
        expect(stub.calls.length).toBe(before)
        expect((await lastRun(w)).outcome).toBe('partial')
      })
    })

    promise`E5 C: Upstream keys come from the environment or a file, and are told nowhere.`
    test('no hold is left, and nothing of the upstreams is written or logged', async () => {
      await expectSettled(w)
      const written = await everythingWritten(w)
      const hosts = [stub.url, scripted.url].map((url) => new URL(url).host)
      for (const never of [...hosts, upstreamKey, 'sk-upstream', secret]) {
        expect(written).not.toContain(never)
      }
    })
  })
}
