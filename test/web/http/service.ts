import { connect } from 'node:net'
import { Elysia } from 'elysia'
import { systemClock } from '../../../src/kernel/clock.ts'
import { makeIds } from '../../../src/kernel/ids.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { refuse } from '../../../src/kernel/refusal.ts'
import { readJson } from '../../../src/web/http/body.ts'
import { clientAddress, rateKey, trustedProxies } from '../../../src/web/http/client-address.ts'
import type { Listen } from '../../../src/web/http/host.ts'
import { makeLimiter, refuseInvalidKey, tooMany } from '../../../src/web/http/limits.ts'
import { methodNotAllowed, openToAnyOrigin } from '../../../src/web/http/methods.ts'
import { makeRoot, type RootDeps } from '../../../src/web/http/root.ts'
import { serve } from '../../../src/web/http/serve.ts'

export const goodKey = 'Bearer sk-service-good'
export const limitBytes = 2000

/** How a guard is written: its `resolve` runs first, then the handler reads the body. */
const keyGuard = (failuresPerMinute: number) => {
  const limiter = makeLimiter(systemClock)
  const failures = makeLimiter(systemClock)
  const trusted = trustedProxies(['127.0.0.1'])
  return new Elysia({ name: 'test-key-guard' }).macro({
    needsKey: {
      resolve: ({ request, server }) => {
        const key = request.headers.get('authorization')
        if (key !== goodKey && key !== `${goodKey}-slow`) {
          const client = rateKey(clientAddress(request, server, trusted))
          return refuseInvalidKey(failures, client, failuresPerMinute)
        }
        const verdict = limiter.take(key, key === goodKey ? 6000 : 1)
        if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
        return { keyId: 'key_1' }
      },
    },
  })
}

/** A small service with one route of each sort, served. `reached` counts guarded handlers. */
export function startService(
  more: Partial<RootDeps> = {},
  baseUrl = 'https://gw.example',
  failuresPerMinute = 100_000,
) {
  const listen: Listen = { hostname: '127.0.0.1', port: 0 }
  const logged: unknown[] = []
  const count = { reached: 0 }
  const app = makeRoot({
    baseUrl,
    listen,
    ids: makeIds(systemClock, systemRandom()),
    log: { error: (_event, err, fields) => void logged.push({ err, ...fields }) },
    ...more,
  })
    .use(keyGuard(failuresPerMinute))
    .get('/v1/status', () => ({ status: 'ok' }), openToAnyOrigin)
    .get('/v1/boom', () => {
      throw new Error('the password is hunter2')
    })
    .get('/v1/broke', () => refuse('insufficient_balance', { metadata: { required_nusd: 5 } }))
    .get('/api/portal/lost', () => refuse('not_found'))
    .get('/v1/receipts/:id', ({ params }) => ({ id: params.id }), openToAnyOrigin)
    .post('/v1/receipts/verify', async ({ request }) => readJson(request, { limitBytes }), {
      ...openToAnyOrigin,
      parse: 'none',
    })
    .get(
      '/v1/secret',
      ({ keyId }) => {
        count.reached++
        return { keyId }
      },
      { needsKey: true },
    )
    .post(
      '/v1/runs',
      async ({ request, keyId }) => {
        const { value } = await readJson(request, { limitBytes })
        count.reached++
        return { keyId, value }
      },
      { needsKey: true, parse: 'none' },
    )
  methodNotAllowed(app)
  const server = serve(app, listen)
  return {
    count,
    logged,
    port: listen.port,
    origin: `http://localhost:${listen.port}`,
    stop: () => server.stop(true),
  }
}

/** Sends bytes as they are and reads until the answer's body is whole or the server closes. */
export function raw(port: number, request: string | Uint8Array): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const socket = connect(port, '127.0.0.1', () => socket.write(request))
  let text = ''
  const done = () => {
    socket.destroy()
    resolve(parseAnswer(text))
  }
  socket.setTimeout(3000, () => {
    socket.destroy()
    reject(new Error(`no whole answer: ${text}`))
  })
  socket.on('data', (data) => {
    text += data.toString('latin1')
    const { headers, body } = parseAnswer(text)
    const length = headers['content-length']
    if (text.includes('\r\n\r\n') && length !== undefined && body.length >= Number(length)) done()
  })
  socket.on('close', done)
  socket.on('error', done)
  return promise
}

export type RawAnswer = { status: number; headers: Record<string, string>; body: string }

function parseAnswer(text: string): RawAnswer {
  const [head = '', ...body] = text.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  )
  return { status: Number(line.split(' ')[1]), headers, body: body.join('\r\n\r\n') }
}
