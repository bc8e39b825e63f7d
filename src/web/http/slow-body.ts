/** Limits bodies that arrive slowly. */

import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'
import { type ExpectedBody, expectedBody } from './expected-body.ts'

/** A body that is not there after this is slow, in ms. */
const slowAfterMs = 1000

/** The slowest uplink of a large body, in bytes a second. */
const bytesASecond = 128 * 1024

/** How long a body may take in all, in ms. */
function longestMs(known: ExpectedBody): number {
  const { bodyTimeoutS } = known.bodies.settings
  return (bodyTimeoutS + known.announcedBytes() / bytesASecond) * 1000
}

/** Takes a place of the client's address. @returns the address; undefined if it has none left */
function takePlace(known: ExpectedBody): string | undefined {
  const { slow, settings } = known.bodies
  const client = known.client()
  const count = slow.get(client) ?? 0
  if (count >= settings.slowBodies) return undefined
  slow.set(client, count + 1)
  return client
}

function releasePlace({ bodies: { slow } }: ExpectedBody, client: string): void {
  const left = (slow.get(client) ?? 1) - 1
  if (left > 0) slow.set(client, left)
  else slow.delete(client)
}

/**
 * Waits for a body as long as it may take. One that is late, or one slow body too many of its
 * address, is given up and its connection closed.
 * @throws Refusal 'invalid_request', 'rate_limited'
 */
export function inTime<T>(request: Request, reading: Promise<T>): Promise<T> {
  const known = expectedBody(request)
  return known ? new BodyWait<T>(known).of(reading) : reading
}

/** One object for the deadlines of a body; every request with one needs it. */
class BodyWait<T> {
  private readonly soon: Deadline
  private late: Timer | undefined
  private client: string | undefined
  private isOver = false
  private refuse: ((refusal: Refusal) => void) | undefined

  constructor(private readonly known: ExpectedBody) {
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
    if (this.client !== undefined) releasePlace(this.known, this.client)
    return true
  }

  private takePlace(): void {
    if (this.isOver) return
    this.client = takePlace(this.known)
    const isTaken = this.client !== undefined
    const refusal = isTaken
      ? new Refusal('invalid_request', tooLate)
      : new Refusal('rate_limited', tooMany)
    const restMs = isTaken ? Math.max(0, longestMs(this.known) - slowAfterMs) : 0
    this.late = setTimeout(() => this.end() && this.refuse?.(refusal), restMs)
  }
}

/** Closes the connection, because the rest of a refused body may still arrive on it. */
const headers = { connection: 'close' }

const tooLate = { message: 'The body took too long to arrive. Send it again, faster.', headers }
const tooMany = {
  message: 'Too many bodies from your network address arrive slowly. Wait for them to end.',
  headers: { ...headers, ...retryHeaders(2000) },
}
