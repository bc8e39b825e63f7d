import type { Socket } from 'bun'

/** What came back for one request. `status` 0: the connection ended before the answer did. */
export type Answer = {
  status: number
  /** Lines of `data:` seen; 0 for a plain answer. */
  frames: number
  /** Whether a plain body has `"choices"`, or a stream the last event of its protocol. */
  whole: boolean
  /** `performance.now()` of the first byte of the body. */
  firstAt: number
}

/** One keep-alive connection over raw TCP: asking costs far less than what is asked. */
export type Connection = {
  ask(request: Uint8Array, onFrames?: (count: number, soFar: number) => void): Promise<Answer>
  /** Cuts the connection without a goodbye, as a crashing client would. */
  cut(): void
}

type Pending = {
  head: string
  answer: Answer
  stream: boolean
  chunked: boolean
  left: number
  tail: string
  resolve: (answer: Answer) => void
  onFrames: ((count: number, soFar: number) => void) | undefined
}

export async function connect(url: URL): Promise<Connection> {
  let pending: Pending | undefined
  const finish = () => {
    const over = pending
    pending = undefined
    over?.resolve(over.answer)
  }
  const lose = () => {
    if (pending) pending.answer = { ...pending.answer, status: 0 }
    finish()
  }
  let unsent: Uint8Array = new Uint8Array()
  const send = (to: Socket) => {
    const sent = to.write(unsent)
    if (sent < 0) lose()
    else unsent = unsent.subarray(sent)
  }
  const socket: Socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data(_, bytes) {
        if (pending && readBytes(pending, bytes.toString('latin1'))) finish()
      },
      drain: send,
      close: lose,
      error: lose,
    },
  })
  return {
    ask(request, onFrames) {
      const { promise, resolve } = Promise.withResolvers<Answer>()
      const answer = { status: 0, frames: 0, whole: false, firstAt: 0 }
      const fresh = { head: '', stream: false, chunked: false, left: 0, tail: '' }
      pending = { ...fresh, answer, resolve, onFrames }
      unsent = request
      send(socket)
      return promise
    },
    cut: () => socket.terminate(),
  }
}

/** Takes what arrived; true when the answer is complete. */
function readBytes(pending: Pending, text: string): boolean {
  let body = text
  if (pending.answer.status === 0) {
    pending.head += text
    const end = pending.head.indexOf('\r\n\r\n')
    if (end === -1) return false
    body = pending.head.slice(end + 4)
    readHead(pending, pending.head.slice(0, end))
  }
  if (body === '') return !pending.chunked && pending.left === 0
  if (pending.answer.firstAt === 0) pending.answer.firstAt = performance.now()
  // Long enough to find a mark that two packets share.
  const joined = pending.tail + body
  if (pending.stream) countFrames(pending, joined)
  else if (joined.includes('"choices"')) pending.answer.whole = true
  pending.left -= body.length
  const over = pending.chunked ? `\r\n${joined}`.endsWith('\r\n0\r\n\r\n') : pending.left <= 0
  if (!pending.stream) pending.tail = joined.slice(-12)
  return over
}

function readHead(pending: Pending, head: string): void {
  pending.answer.status = Number(head.slice(9, 12))
  const length = /content-length: *(\d+)/i.exec(head)?.[1]
  pending.chunked = /transfer-encoding: *chunked/i.test(head)
  pending.left = pending.chunked ? Number.POSITIVE_INFINITY : Number(length ?? 0)
  pending.stream = /content-type: *text\/event-stream/i.test(head)
}

const mark = 'data: '
/** Ends of streams, of Chat Completions, Messages and Responses. */
const ends = ['[DONE]', '"message_stop"', '"response.completed"']

function countFrames(pending: Pending, joined: string): void {
  const { answer } = pending
  let count = 0
  let from = 0
  for (let at = joined.indexOf(mark); at !== -1; at = joined.indexOf(mark, from)) {
    count++
    from = at + mark.length
  }
  if (ends.some((end) => joined.includes(end))) answer.whole = true
  // After the last mark, so that none is counted twice; another one may have begun.
  pending.tail = joined.slice(Math.max(from, joined.length - 12))
  if (count === 0) return
  answer.frames += count
  pending.onFrames?.(count, answer.frames)
}
