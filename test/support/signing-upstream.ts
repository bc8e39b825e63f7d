/**
 * A model server on loopback that signs its answers as the proxies of NEAR AI's enclaves do: SHA-256
 * of the request's bytes and of the answer's, by a well-known key, served by the id of the answer.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { privateKeyToAccount } from 'viem/accounts'

/** The second and third well-known test accounts. */
export const upstreamKey = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
export const otherKey = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
)

/** A request and its answer, as the server saw them. */
export type Seen = { id: string; request: string; answer: string }

export type SigningUpstream = Awaited<ReturnType<typeof signingUpstream>>

const hex = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** A signature as the server serves it. */
export async function signedBy(
  account: typeof upstreamKey,
  text: string,
): Promise<Record<string, string>> {
  const signature = await account.signMessage({ message: text })
  return { text, signature, signing_address: account.address, signing_algo: 'ecdsa' }
}

/** Starts it; `model` is its name in the signed text, '' for servers that leave it out. */
export async function signingUpstream(model = 'good') {
  const seen = new Map<string, Seen>()
  const asked: string[] = []
  /** Answers a request for a signature in place of the honest answer, until it is undefined. */
  let serve: ((response: ServerResponse, seen: Seen | undefined) => unknown) | undefined
  let count = 0
  /** Holds back the end of streams behind `[DONE]`. */
  let pauseMs = 0
  let hasId = true
  let breaksOff = false

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const [, id] = /^\/v1\/signature\/(.+)$/.exec(url.pathname) ?? []
    if (id === undefined) return answer(await bytesOf(request), response)
    asked.push(request.url ?? '')
    const found = seen.get(id)
    if (serve) return serve(response, found)
    if (!found || request.headers.authorization !== 'Bearer upstream-secret') {
      response.statusCode = 404
      return response.end('{"detail":"Chat id not found or expired"}')
    }
    response.end(JSON.stringify(await signedBy(upstreamKey, textOf(found))))
  })
  const textOf = ({ request, answer }: Seen): string =>
    `${model === '' ? '' : `${model}:`}${request}:${answer}`

  async function answer(body: Buffer, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(body.toString())
    const id = `chatcmpl-${++count}`
    const named = hasId ? { id } : {}
    const base = { ...named, created: 1, model: asked.model }
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
    const message = { role: 'assistant', content: 'Good day. \u{1f600}' }
    if (!asked.stream) {
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      const text = JSON.stringify({ ...base, object: 'chat.completion', choices, usage })
      response.setHeader('content-type', 'application/json')
      seen.set(id, { id, request: hex(body), answer: hex(text) })
      response.end(text)
      return
    }
    const chunk = (delta: object, reason: string | null = null) =>
      `data: ${JSON.stringify({
        ...base,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: reason }],
      })}\n\n`
    const last = { ...base, object: 'chat.completion.chunk', choices: [], usage }
    const pieces = [
      chunk({ role: 'assistant', content: 'Good ' }),
      chunk({ content: 'day. \u{1f600}' }),
      chunk({}, 'stop'),
      `data: ${JSON.stringify(last)}\n\n`,
      'data: [DONE]\n\n',
    ]
    response.setHeader('content-type', 'text/event-stream')
    if (breaksOff) {
      response.write(pieces[0], () => response.destroy())
      return
    }
    for (const piece of pieces) response.write(piece)
    if (pauseMs > 0) await Bun.sleep(pauseMs)
    seen.set(id, { id, request: hex(body), answer: hex(`${pieces.join('')}: bye\n\n`) })
    response.end(': bye\n\n')
  }

  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    asked,
    textOf,
    answerBy: (next: typeof serve) => {
      serve = next
    },
    pause: (ms: number) => {
      pauseMs = ms
    },
    breakOff: (does: boolean) => {
      breaksOff = does
    },
    leaveIdsOut: () => {
      hasId = false
    },
    stop: () => server.close().closeAllConnections(),
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}
