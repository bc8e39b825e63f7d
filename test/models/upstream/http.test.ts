import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import {
  defaultHttpLimits,
  type HttpLimits,
  type HttpRequest,
  request,
} from '../../../src/models/upstream/http.ts'
import { UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { openWire } from '../../../src/models/upstream/wire/wire.ts'
import { fault, promise } from '../../support/promise.ts'
import {
  type StubHandler,
  type StubOptions,
  type StubUpstream,
  startStubUpstream,
} from '../../support/stub-upstream.ts'

const stubs: StubUpstream[] = []

afterEach(async () => {
  for (const stub of stubs.splice(0)) await stub.stop()
})

async function stub(options: StubHandler | StubOptions): Promise<StubUpstream> {
  const started = await startStubUpstream(
    typeof options === 'function' ? { handler: options } : options,
  )
  stubs.push(started)
  return started
}

type Given = { signal?: AbortSignal; limits?: Partial<HttpLimits> }

/** Both ways to ask keep to the same rules. */
const byOwnSockets = ({ url, headers = {}, body = '', signal, limits }: HttpRequest) =>
  openWire(url, {}).ask({
    account: 'a',
    headers,
    body,
    signal,
    limits: { ...defaultHttpLimits, ...limits },
  })

const ways = [
  ['by fetch', request],
  ['by sockets of our own', byOwnSockets],
] as const

/** Why a call failed; throws when it did not. */
async function failureOf(work: Promise<unknown>): Promise<UpstreamFailure> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof UpstreamFailure) return error
  throw new Error(`no UpstreamFailure but ${error}`)
}

async function drain(answer: Awaited<ReturnType<(typeof ways)[number][1]>>): Promise<number> {
  let count = 0
  for (;;) {
    const bytes = await answer.read()
    if (!bytes) return count
    count += bytes.length
  }
}

describe.each(ways)('%s', (_, ask) => {
  function post(url: string, model: string, { signal, limits }: Given = {}) {
    return ask({
      url: `${url}/chat/completions`,
      headers: { authorization: 'Bearer sk-upstream' },
      body: JSON.stringify({ model, stream: model === 'slow' }),
      signal: signal ?? new AbortController().signal,
      limits: { ...defaultHttpLimits, ...limits },
    })
  }

  describe('where a call goes', () => {
    promise`E2 C: No redirect of an upstream is followed, and its key goes nowhere else.`
    fault`29: an upstream redirects → an error; its key goes nowhere else`
    test('a redirect is a failure and the credentials reach no other server', async () => {
      const other = await stub({})
      const { url } = await stub({ redirectTo: `${other.url}/chat/completions` })
      const failure = await failureOf(post(url, 'redirect'))
      expect(failure).toMatchObject({ reason: 'error', status: 307 })
      expect(other.counts.requests).toBe(0)
    })

    test('it asks for an uncompressed answer', async () => {
      const { url, calls } = await stub({})
      await (await post(url, 'normal')).text()
      expect(calls[0]?.headers['accept-encoding']).toBe('identity')
    })

    fault`24: an upstream refuses, resets, has a wrong certificate or an unknown name → 502, the hold
      is freed, and it counts as a failure of the upstream`
    test('no one listening is unreachable', async () => {
      const { url, stop } = await stub({})
      await stop()
      expect(await failureOf(post(url, 'normal'))).toMatchObject({ reason: 'unreachable' })
    })

    promise`E6 H: An upstream has a certificate of a trusted authority.`
    fault`24`
    test.skipIf(!Bun.which('openssl'))(
      'A server with a self-signed certificate is unreachable.',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'tls-'))
        const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
        await $`openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 ${subject}`
          .cwd(folder)
          .quiet()
        const tls = { key: Bun.file(join(folder, 'key')), cert: Bun.file(join(folder, 'cert')) }
        const secure = Bun.serve({ port: 0, tls, fetch: () => new Response('hello') })
        const failure = await failureOf(post(`https://localhost:${secure.port}`, 'normal'))
        await secure.stop(true)
        await rm(folder, { recursive: true })
        expect(failure).toMatchObject({ reason: 'unreachable' })
      },
    )
  })

  describe('how much it may be', () => {
    promise`D16`
    fault`21`
    fault`28: an upstream sends a bomb of gzip, a line without end, a head without end → given up at
      the limit`
    test('50 MB in 50 kB of gzip stop at the limit, read whole or as they come', async () => {
      const { url } = await stub({})
      const whole = (await post(url, 'bomb')).text()
      expect(await failureOf(whole)).toMatchObject({ reason: 'too_large' })
      const limits = { streamBytes: 1_000_000 }
      const read = drain(await post(url, 'bomb', { limits }))
      expect(await failureOf(read)).toMatchObject({ reason: 'too_large' })
    })

    test('an answer of exactly the limit passes, one byte more does not', async () => {
      const { url } = await stub((_, response) => void response.end('x'.repeat(100_000)))
      const text = await (await post(url, 'x', { limits: { answerBytes: 100_000 } })).text()
      expect(text).toHaveLength(100_000)
      const more = (await post(url, 'x', { limits: { answerBytes: 99_999 } })).text()
      expect(await failureOf(more)).toMatchObject({ reason: 'too_large' })
    })

    test('characters that are split between reads stay whole', async () => {
      const { url } = await stub(async (_, response) => {
        for (const byte of Buffer.from('é漢😀')) {
          response.write(Uint8Array.of(byte))
          await Bun.sleep(1)
        }
        response.end()
      })
      expect(await (await post(url, 'x')).text()).toBe('é漢😀')
    })
  })

  promise`E7 H: A call has limits of time and is not tried again after its first byte; an upstream
    that fails again and again is left alone until one request finds that it works. Missing: a limit
    of its own for connecting: it counts into the wait for the first byte.`
  describe('how long it may take', () => {
    test('A server without headers in time is a timeout.', async () => {
      const { url } = await stub({})
      const failure = await failureOf(post(url, 'stall', { limits: { firstByteMs: 30 } }))
      expect(failure).toMatchObject({ reason: 'timeout' })
    })

    const half: StubHandler = (_, response) => void response.writeHead(200).write('half')

    test('silence inside a body that is read whole', async () => {
      const { url } = await stub(half)
      const text = (await post(url, 'x', { limits: { idleMs: 30 } })).text()
      expect(await failureOf(text)).toMatchObject({ reason: 'timeout' })
    })

    test('silence inside a short body of declared length', async () => {
      const { url } = await stub((_, response) => {
        response.writeHead(200, { 'content-length': '10' }).write('half')
      })
      const text = (await post(url, 'x', { limits: { idleMs: 30 } })).text()
      expect(await failureOf(text)).toMatchObject({ reason: 'timeout' })
    })

    test('silence inside a body that is read as it comes', async () => {
      const { url } = await stub(half)
      const read = drain(await post(url, 'x', { limits: { idleMs: 30 } }))
      expect(await failureOf(read)).toMatchObject({ reason: 'timeout' })
    })

    test('Our own delay between two reads does not count as silence of the server.', async () => {
      const { url } = await stub({})
      const answer = await post(url, 'slow', { limits: { idleMs: 150 } })
      await answer.read()
      await Bun.sleep(320)
      expect(await answer.read()).toBeDefined()
      answer.stop()
    })

    promise`D15`
    test('the whole of it, however busy', async () => {
      const { url } = await stub({})
      // On a busy machine that may be over before the head is here.
      const read = post(url, 'slow', { limits: { totalMs: 60 } }).then(drain)
      expect(await failureOf(read)).toMatchObject({ reason: 'too_long' })
    })
  })

  describe('who stops it', () => {
    test('a signal that was aborted before sends nothing', async () => {
      const { url, counts } = await stub({})
      const failure = await failureOf(post(url, 'normal', { signal: AbortSignal.abort() }))
      expect(failure).toMatchObject({ reason: 'aborted' })
      expect(counts.requests).toBe(0)
    })

    test('an abort before the headers, in a read, between reads and in a whole body', async () => {
      const { url, counts } = await stub({})
      for (const moment of ['headers', 'read', 'between', 'whole']) {
        const caller = new AbortController()
        const call = post(url, moment === 'headers' ? 'stall' : 'slow', { signal: caller.signal })
        setTimeout(() => caller.abort(), moment === 'between' ? 0 : 20)
        const work = call.then(async (answer) => {
          if (moment === 'between') await Bun.sleep(20)
          return moment === 'whole' ? await answer.text() : await drain(answer)
        })
        expect(await failureOf(work)).toMatchObject({ reason: 'aborted' })
      }
      await until(() => counts.active === 0)
      expect(counts.cut).toBe(counts.requests)
    })

    test('stopping an answer, read or unread, closes the connection', async () => {
      const { url, counts } = await stub({})
      const unread = await post(url, 'slow')
      unread.stop()
      unread.stop()
      const begun = await post(url, 'slow')
      await begun.read()
      const pending = failureOf(begun.read())
      begun.stop()
      expect(await pending).toMatchObject({ reason: 'aborted' })
      await until(() => counts.active === 0)
      expect(counts.cut).toBe(2)
    })

    test('a connection that breaks is a cut stream, or an unreadable answer', async () => {
      const broken: StubHandler = async (_, response) => {
        response.writeHead(200).write('half')
        await Bun.sleep(5)
        response.destroy()
      }
      const { url } = await stub(broken)
      expect(await failureOf(drain(await post(url, 'x')))).toMatchObject({ reason: 'cut' })
      expect(await failureOf((await post(url, 'x')).text())).toMatchObject({ reason: 'error' })
    })
  })
})

/** Waits for something that follows soon, at most two seconds. */
async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isTrue(); i++) await Bun.sleep(5)
}
