import { createServer, type Socket } from 'node:net'

export type RawUpstream = {
  url: string
  /** All connections it ever had. */
  sockets: Socket[]
  /** How many whole requests it heard. */
  heard(): number
  stop(): Promise<void>
}

/** What is written for a request: `turn` counts those of its connection, from 0. */
export type RawAnswer = (socket: Socket, turn: number, body: string) => void

/** A server on a loopback port that answers each whole POST with raw bytes. */
export async function startRawUpstream(answer: RawAnswer): Promise<RawUpstream> {
  const sockets: Socket[] = []
  let heard = 0
  const server = createServer((socket) => {
    sockets.push(socket)
    let turn = 0
    let received = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      const end = received.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? Number.NaN)
      if (end === -1 || !(received.length >= end + 4 + length)) return
      const body = received.slice(end + 4, end + 4 + length)
      received = received.slice(end + 4 + length)
      heard++
      answer(socket, turn++, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}/v1`,
    sockets,
    heard: () => heard,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An HTTP answer of this body, as bytes. */
export const rawAnswer = (body: string, ...fields: string[]): string =>
  ['HTTP/1.1 200 OK', `content-length: ${Buffer.byteLength(body)}`, ...fields, '', body].join(
    '\r\n',
  )

/** A chat completion that says `content`. */
export const completionOf = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-raw',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'any',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })
