/** Notes the hashes of an exchange with an upstream that signs its answers. */
import { deadlineIn } from '../../kernel/deadline.ts'
import { sha256 } from '../../kernel/hash.ts'
import { parseObject } from '../../kernel/json-object.ts'
import type { WireAnswer } from './http.ts'
import type { SignedExchange } from './signed-exchange.ts'
import { type ChunkTaker, UpstreamFailure } from './upstream.ts'

/** How long an answer that said all may take to end its body, in ms. */
const endWithinMs = 1000
/** The most bytes that may follow then: the end of the last event. */
const endBytes = 4096
/** The first event of a stream names its answer, in its first bytes. */
const headBytes = 64 * 1024

type SignedRequest = Pick<SignedExchange, 'upstream' | 'model' | 'scheme'> & {
  request: string
  /** The most bytes of an answer that is read whole. */
  answerBytes: number
}

/** An answer, and the exchange that it is part of. */
export function noteExchange(answer: WireAnswer, asked: SignedRequest) {
  const { request, answerBytes, ...about } = asked
  const over = Promise.withResolvers<void>()
  const exchange: SignedExchange = {
    ...about,
    requestHash: sha256(request),
    answer: undefined,
    over: over.promise,
  }
  const noted = new NotedAnswer(answer, answerBytes, (whole) => {
    exchange.answer = whole
    over.resolve()
  })
  return { answer: noted, exchange }
}

class NotedAnswer implements WireAnswer {
  readonly status: number
  private readonly hasher = new Bun.CryptoHasher('sha256')
  private head: Uint8Array[] = []
  private headLength = 0
  private isOver = false

  constructor(
    private readonly inner: WireAnswer,
    private readonly answerBytes: number,
    private readonly told: (whole: SignedExchange['answer']) => void,
  ) {
    this.status = inner.status
  }

  async read(): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.inner.read()
      if (bytes) this.note(bytes)
      else this.conclude(this.wholeStream())
      return bytes
    } catch (error) {
      this.conclude(undefined)
      throw error
    }
  }

  async text(): Promise<string> {
    const pieces: Uint8Array[] = []
    let length = 0
    try {
      for (;;) {
        const bytes = await this.inner.read()
        if (!bytes) break
        length += bytes.length
        if (length > this.answerBytes) throw new UpstreamFailure('too_large')
        this.hasher.update(bytes)
        pieces.push(bytes)
      }
    } catch (error) {
      this.stop()
      // None of it was used.
      const isCut = error instanceof UpstreamFailure && error.reason === 'cut'
      throw isCut ? new UpstreamFailure('error') : error
    }
    const text = new TextDecoder().decode(Buffer.concat(pieces))
    this.conclude({ hash: this.digest(), id: idOf(text) })
    return text
  }

  async flow(take: ChunkTaker<Uint8Array>): Promise<void> {
    let isLeft = false
    const goesOn = (more: boolean): boolean => {
      isLeft = !more
      return more
    }
    try {
      await this.inner.flow((bytes) => {
        this.note(bytes)
        const more = take(bytes)
        return typeof more === 'boolean' ? goesOn(more) : more.then(goesOn)
      })
    } catch (error) {
      this.conclude(undefined)
      throw error
    }
    if (!isLeft) this.conclude(this.wholeStream())
  }

  left(): Uint8Array | undefined {
    return this.inner.left?.()
  }

  /** Reads on to the end of the body, whose last bytes are hashed too. */
  end(): void {
    if (this.isOver) return
    const tooLong = deadlineIn(endWithinMs, () => this.stop())
    this.drain()
      .catch(() => this.stop())
      .finally(() => tooLong.clear())
  }

  stop(): void {
    this.inner.stop()
    this.conclude(undefined)
  }

  private async drain(): Promise<void> {
    for (let more = 0; more <= endBytes; ) {
      const bytes = await this.read()
      if (!bytes) return
      more += bytes.length
    }
    this.stop()
  }

  private note(bytes: Uint8Array): void {
    this.hasher.update(bytes)
    if (this.headLength >= headBytes) return
    // A copy: the piece may be part of a larger read.
    this.head.push(bytes.slice(0, headBytes - this.headLength))
    this.headLength += bytes.length
  }

  private wholeStream(): SignedExchange['answer'] {
    if (this.isOver) return undefined
    return { hash: this.digest(), id: idInEvents(Buffer.concat(this.head)) }
  }

  private digest(): Uint8Array {
    return new Uint8Array(this.hasher.digest())
  }

  private conclude(whole: SignedExchange['answer']): void {
    if (this.isOver) return
    this.isOver = true
    this.head = []
    this.told(whole)
  }
}

/** Ids go into the path of a URL: they have no slash, and are not `..`. */
const idForm = /^[A-Za-z0-9][\w.:-]{0,199}$/

function idOf(text: string): string | undefined {
  const id = parseObject(text)?.['id']
  return typeof id === 'string' && idForm.test(id) ? id : undefined
}

/** The id that the first event with one names. */
function idInEvents(head: Uint8Array): string | undefined {
  const lines = new TextDecoder().decode(head).split(/\r\n|\n|\r/)
  for (const line of lines) {
    const id = line.startsWith('data:') ? idOf(line.slice(5)) : undefined
    if (id !== undefined) return id
  }
  return undefined
}
