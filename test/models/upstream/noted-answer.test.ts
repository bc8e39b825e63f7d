import { afterEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { StopSwitch } from '../../../src/kernel/stop.ts'
import { modelServer } from '../../../src/models/upstream/model-server.ts'
import { type SentMark, takeEach, UpstreamFailure } from '../../../src/models/upstream/upstream.ts'
import { promise } from '../../support/promise.ts'
import { upstreamKey } from '../../support/signing-upstream.ts'

const attest = { scheme: 'near-ai', keys: [upstreamKey.address], path: 'signature/{id}' } as const
const hash = (bytes: string | Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')
const hexOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

type Answer = (response: ServerResponse, path: string) => void

/** A server that notes what it hears, and answers as told. */
async function serverOf(answer: Answer) {
  const heard: { path: string; body: string; type: string | undefined; key: string | undefined }[] =
    []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (bytes) => {
      body += bytes
    })
    request.on('end', () => {
      const { 'content-type': type, authorization: key } = request.headers
      heard.push({ path: request.url ?? '', body, type, key })
      answer(response, request.url ?? '')
    })
  })
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  closing.push(() => server.close().closeAllConnections())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return { heard, url: `http://127.0.0.1:${port}/v1` }
}

const signal = () => new StopSwitch()
const body = { model: 'good', messages: [] }
const limits = { answerBytes: 2000, streamBytes: 20_000 }

async function wholeOf(answer: Answer, more: object = {}) {
  const { url, heard } = await serverOf(answer)
  const server = modelServer({ id: 'enclave', baseUrl: url, attest, limits, ...more })
  const mark: SentMark = { isSent: false }
  const call = { kind: 'chat' as const, account: 'a', body, signal: signal(), mark }
  const failed = await server.complete(call).then(
    () => undefined,
    (error: unknown) => (error instanceof UpstreamFailure ? error.reason : error),
  )
  return { mark, failed, heard, server }
}

async function streamOf(answer: Answer, stopAt = Number.POSITIVE_INFINITY, then = () => {}) {
  const { url, heard } = await serverOf(answer)
  const server = modelServer({ id: 'enclave', baseUrl: url, attest, limits })
  const mark: SentMark = { isSent: false }
  const call = { kind: 'chat' as const, account: 'a', body, signal: signal(), mark }
  let batches = 0
  const failed = await server
    .stream(call)
    .then((chunks) => takeEach(chunks, () => ++batches < stopAt))
    .then(
      () => undefined,
      (error: unknown) => (error instanceof UpstreamFailure ? error.reason : error),
    )
  then()
  await mark.exchange?.over
  return { mark, failed, heard }
}

const message = { role: 'assistant', content: 'grün' }
const completion = (more: object = {}) =>
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    ...more,
  })
const frame = (more: object = {}, reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-2',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content: 'x' }, finish_reason: reason }],
    ...more,
  })}\n\n`

describe('the exchange with an upstream that signs its answers', () => {
  test('A whole answer is hashed byte by byte, no matter what its characters.', async () => {
    const bytes = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(completion())])
    const { mark, heard, failed } = await wholeOf((response) => response.end(bytes))
    expect(failed).toBeUndefined()
    const { exchange } = mark
    expect(exchange).toMatchObject({ upstream: 'enclave', model: 'good', scheme: 'near-ai' })
    expect(hexOf(exchange?.requestHash)).toBe(hash(heard[0]?.body ?? ''))
    expect([hexOf(exchange?.answer?.hash), exchange?.answer?.id]).toEqual([
      hash(bytes),
      'chatcmpl-1',
    ])
  })

  test('An answer that was packed on its way is hashed as what was packed.', async () => {
    const { mark } = await wholeOf((response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(gzipSync(completion()))
    })
    expect(hexOf(mark.exchange?.answer?.hash)).toBe(hash(completion()))
  })

  test('An answer has its limit, to the byte.', async () => {
    const padded = (length: number) => completion().padEnd(length, ' ')
    const most = await wholeOf((response) =>
      response.end(padded(Buffer.byteLength(completion()) + 10)),
    )
    expect(most.failed).toBeUndefined()
    const size = 2000 - (Buffer.byteLength(completion()) - completion().length)
    const full = await wholeOf((response) => response.end(padded(size)))
    expect([full.failed, full.mark.exchange?.answer === undefined]).toEqual([undefined, false])
    const over = await wholeOf((response) => response.end(padded(size + 1)))
    expect([over.failed, over.mark.exchange?.answer]).toEqual(['too_large', undefined])
  })

  test('An answer that breaks off is an error, and has no hash.', async () => {
    const { failed, mark } = await wholeOf((response) => {
      response.setHeader('content-length', 500)
      response.write(completion(), () => response.socket?.destroy())
    })
    expect([failed, mark.exchange?.answer]).toEqual(['error', undefined])
    await mark.exchange?.over
  })

  test.each(['', 'a/b', '..', '.x', 'a?b', 'x'.repeat(201), 7, undefined])(
    'The id %p is not asked by.',
    async (id) => {
      const { mark } = await wholeOf((response) => response.end(completion({ id })))
      expect(mark.exchange?.answer?.id).toBeUndefined()
      expect(hexOf(mark.exchange?.answer?.hash)).toBe(hash(completion({ id })))
    },
  )

  test('The longest id is asked by.', async () => {
    const id = `x${'-'.repeat(199)}`
    const { mark } = await wholeOf((response) => response.end(completion({ id })))
    expect(mark.exchange?.answer?.id).toBe(id)
  })

  test('A refused request and an upstream that signs nothing leave no exchange.', async () => {
    const refused = await wholeOf((response) => {
      response.statusCode = 500
      response.end('{}')
    })
    expect([refused.failed, refused.mark.exchange]).toEqual(['error', undefined])
    const plain = await wholeOf((response) => response.end(completion()), { attest: undefined })
    expect([plain.failed, plain.mark.exchange, plain.server.evidence]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  const ended = [frame({ id: undefined }), frame(), frame({}, 'stop'), 'data: [DONE]\n\n']

  promise`E24`
  test.each([
    ['all of it at once', ended.join(''), ended.join('')],
    ['with other line ends', ended.join('').replaceAll('\n', '\r\n'), undefined],
    ['with comments behind its end', `${ended.join('')}: bye\n\n`, undefined],
  ])('A stream is hashed to its very end: %s.', async (_, text) => {
    const { mark, failed } = await streamOf((response) => response.end(text))
    expect(failed).toBeUndefined()
    const { answer } = mark.exchange ?? {}
    expect([hexOf(answer?.hash), answer?.id]).toEqual([hash(text), 'chatcmpl-2'])
  })

  test('A stream that comes piece by piece has the same hash.', async () => {
    const text = `${ended.join('')}: bye\n\n`
    const { mark } = await streamOf(async (response) => {
      for (let at = 0; at < text.length; at += 50) {
        response.write(text.slice(at, at + 50))
        await new Promise((resume) => setTimeout(resume, 1))
      }
      response.end()
    })
    expect(hexOf(mark.exchange?.answer?.hash)).toBe(hash(text))
  })

  test('A stream that ends without [DONE], every choice finished, is whole.', async () => {
    const text = ended.slice(0, 3).join('')
    const { mark, failed } = await streamOf((response) => response.end(text))
    expect([failed, hexOf(mark.exchange?.answer?.hash)]).toEqual([undefined, hash(text)])
  })

  test.each([
    ['is left', (response: ServerResponse) => response.end(ended.join('')), 1, undefined],
    [
      'is cut',
      (response: ServerResponse) => response.write(frame(), () => response.destroy()),
      9,
      'cut',
    ],
    [
      'is an error',
      (response: ServerResponse) => response.end(`${frame()}data: {"error":{}}\n\n`),
      9,
      'error',
    ],
    ['does not end', (response: ServerResponse) => response.write(ended.join('')), 9, undefined],
  ] as const)('A stream that %s has no hash.', async (_, answer, stopAt, reason) => {
    const { mark, failed } = await streamOf((response) => void answer(response), stopAt)
    expect([failed, mark.exchange?.answer]).toEqual([reason, undefined])
  })

  test('A stream that goes on behind its end has no hash.', async () => {
    let open: ServerResponse | undefined
    const begin = (response: ServerResponse) => {
      open = response
      response.write(ended.join(''))
    }
    const goOn = () => void open?.end(`: ${'x'.repeat(9000)}`)
    const { mark, failed } = await streamOf(begin, 9, goOn)
    expect([failed, mark.exchange?.answer]).toEqual([undefined, undefined])
  })

  test('A stream whose first 64 kB name no id has none.', async () => {
    const first = `: ${'x'.repeat(15_000)}\n\n`
    const { mark } = await streamOf((response) =>
      response.end(first + [frame({ id: undefined }, 'stop'), 'data: [DONE]\n\n'].join('')),
    )
    const { answer } = mark.exchange ?? {}
    expect([answer === undefined, answer?.id]).toEqual([false, undefined])
  })
})

describe('the question for a signature', () => {
  const ask = async (answer: Answer, more: object = {}) => {
    const { url, heard } = await serverOf(answer)
    const query = { 'api-version': '2' }
    const options = { id: 'enclave', baseUrl: `${url}?a=1`, apiKey: 'k', attest, query, ...more }
    const source = modelServer(options).evidence
    return { heard, found: await source?.ask({ id: 'chatcmpl-1', model: 'a/b c' }, signal()) }
  }
  const signature = `0x${'11'.repeat(64)}1b`
  const served = {
    text: 'x:y',
    signature,
    signing_address: upstreamKey.address,
    signing_algo: 'ecdsa',
  }

  test('goes to the path below the base URL, with key and queries, and has no body', async () => {
    const { heard, found } = await ask((response) => response.end(JSON.stringify(served)))
    expect(heard).toEqual([
      {
        path: '/v1/signature/chatcmpl-1?a=1&api-version=2&model=a%2Fb+c&signing_algo=ecdsa',
        body: '',
        type: undefined,
        key: 'Bearer k',
      },
    ])
    expect(found).toEqual({
      document: JSON.stringify(
        { ...served, signing_address: served.signing_address.toLowerCase() },
        ['signature', 'signing_address', 'signing_algo', 'text'],
      ),
    })
    const other = await ask((response) => response.end('{}'), {
      attest: { ...attest, path: 'tee/{id}/signed' },
    })
    expect(other.heard[0]?.path).toStartWith('/v1/tee/chatcmpl-1/signed?')
  })

  test.each([
    [404, '{}', { why: 'not_found', isFinal: false }],
    [500, '{}', { why: 'failed', isFinal: false }],
    [204, '', { why: 'failed', isFinal: false }],
    [301, '', { why: 'failed', isFinal: false }],
    [200, '{}', { why: 'unreadable', isFinal: true }],
    [200, 'x', { why: 'unreadable', isFinal: true }],
    [200, `"${'x'.repeat(65_536)}"`, { why: 'too_large', isFinal: true }],
  ] as const)('An answer of %d is read: %#.', async (status, text, expected) => {
    const { found } = await ask((response) => {
      response.statusCode = status
      response.end(text)
    })
    expect(found).toEqual(expected)
  })

  test('A server that is not there is asked again.', async () => {
    const { found } = await ask((response) => response.socket?.destroy())
    expect(found).toEqual({ why: 'unreachable', isFinal: false })
  })
})
