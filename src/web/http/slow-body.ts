/** Limits bodies that arrive slowly. */
import type { Deps } from '../../app/deps-port.ts'
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { clientAddress, type PeerSource, rateKey, trustedProxies } from './client-address.ts'

/** A body that is not there after this is slow, in ms. */
const slowAfterMs = 1000

type Limits = Pick<Deps['settings'], 'bodyTimeoutS' | 'slowBodies' | 'trustedProxies'>

/** A request whose body was not read yet, and the connection it came by. */
class Expected {
  constructor(
    readonly slow: SlowBodies,
    readonly request: Request,
    readonly server: PeerSource | null,
  ) {}
}

const expected = new WeakMap<Request, Expected>()

/** Notes a request that may have a body. */
export type ExpectBody = (request: Request, server: PeerSource | null) => void

/**
 * Bodies that arrive slowly, counted by the address they come from. Bun tells of a connection only
 * once the head of a request is there, so this is the first moment at which it can be counted.
 */
export function slowBodies(settings: Limits): ExpectBody {
  const slow = new SlowBodies(settings)
  return (request, server) => void expected.set(request, new Expected(slow, request, server))
}

class SlowBodies {
  private readonly isTrusted: ReturnType<typeof trustedProxies>
  private readonly counts = new Map<string, number>()

  constructor(readonly settings: Limits) {
    this.isTrusted = trustedProxies(settings.trustedProxies)
  }

  /** Takes a place of the client's address. @returns the address; undefined if it has none left */
  take({ request, server }: Expected): string | undefined {
    const client = rateKey(clientAddress(request, server, this.isTrusted))
    const count = this.counts.get(client) ?? 0
    if (count >= this.settings.slowBodies) return undefined
    this.counts.set(client, count + 1)
    return client
  }

  release(client: string): void {
    const left = (this.counts.get(client) ?? 1) - 1
    if (left > 0) this.counts.set(client, left)
    else this.counts.delete(client)
  }
}

/**
 * Waits for a body as long as it may take. One that is late, or one slow body too many of its
 * address, is given up and its connection closed.
 * @throws Refusal 'invalid_request', 'rate_limited'
 */
export function inTime<T>(request: Request, reading: Promise<T>): Promise<T> {
  const known = expected.get(request)
  return known ? new BodyWait<T>(known).of(reading) : reading
}

/** One object for the deadlines of a body; every request with one needs it. */
class BodyWait<T> {
  private readonly soon: Deadline
  private late: Timer | undefined
  private client: string | undefined
  private isOver = false
  private refuse: ((refusal: Refusal) => void) | undefined

  constructor(private readonly known: Expected) {
    this.soon = deadlineIn(slowAfterMs, this)
  }

  of(reading: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.refuse = reject
      reading.then(
        (body) => this.end() && resolve(body),
        (error: unknown) => this.end() && reject(error),
      )
    })
  }

  /** After a pause of this process, looks at the sockets first: the body may be there. */
  handleDeadline(): void {
    setImmediate(() => this.takePlace())
  }

  private end(): boolean {
    if (this.isOver) return false
    this.isOver = true
    this.soon.clear()
    clearTimeout(this.late)
    if (this.client !== undefined) this.known.slow.release(this.client)
    return true
  }

  private takePlace(): void {
    if (this.isOver) return
    const { slow } = this.known
    this.client = slow.take(this.known)
    const isTaken = this.client !== undefined
    const refusal = isTaken
      ? new Refusal('invalid_request', tooLate)
      : new Refusal('rate_limited', tooMany)
    const restMs = isTaken ? Math.max(0, slow.settings.bodyTimeoutS * 1000 - slowAfterMs) : 0
    this.late = setTimeout(() => this.end() && this.refuse?.(refusal), restMs)
  }
}

/** What is still on its way is not waited for. */
const headers = { connection: 'close' }

const tooLate = { message: 'The body took too long to arrive. Send it again, faster.', headers }
const tooMany = {
  message: 'Too many bodies from your network address arrive slowly. Wait for them to end.',
  headers: { ...headers, 'retry-after': '2', 'retry-after-ms': '2000' },
}
