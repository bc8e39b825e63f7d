/** Limits bodies that arrive slowly. */
import type { Deps } from '../../app/deps-port.ts'
import { deadlineIn } from '../../kernel/deadline.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { clientAddress, type PeerSource, rateKey, trustedProxies } from './client-address.ts'

/** A body that is not there after this is slow, in ms. */
const slowAfterMs = 1000

type Limits = Pick<Deps['settings'], 'bodyTimeoutS' | 'slowBodies' | 'trustedProxies'>

/** What is known of a request whose body was not read yet. */
type Expected = { timeoutMs(): number; take(): (() => void) | undefined }

const expected = new WeakMap<Request, Expected>()

/** Notes a request that may have a body. */
export type ExpectBody = (request: Request, server: PeerSource | null) => void

/**
 * Bodies that arrive slowly, counted by the address they come from. Bun tells of a connection only
 * once the head of a request is there, so this is the first moment at which it can be counted.
 */
export function slowBodies(settings: Limits): ExpectBody {
  const isTrusted = trustedProxies(settings.trustedProxies)
  const slow = new Map<string, number>()
  const take = (client: string): (() => void) | undefined => {
    const count = slow.get(client) ?? 0
    if (count >= settings.slowBodies) return undefined
    slow.set(client, count + 1)
    return () => {
      const left = (slow.get(client) ?? 1) - 1
      if (left > 0) slow.set(client, left)
      else slow.delete(client)
    }
  }
  return (request, server) => {
    expected.set(request, {
      timeoutMs: () => settings.bodyTimeoutS * 1000,
      take: () => take(rateKey(clientAddress(request, server, isTrusted))),
    })
  }
}

/**
 * Waits for a body as long as it may take. One that is late, or one slow body too many of its
 * address, is given up and its connection closed.
 * @throws Refusal 'invalid_request', 'rate_limited'
 */
export function inTime<T>(request: Request, reading: Promise<T>): Promise<T> {
  const known = expected.get(request)
  if (!known) return reading
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let release: (() => void) | undefined
  let late: Timer | undefined
  let isOver = false
  const end = (): boolean => {
    if (isOver) return false
    isOver = true
    soon.clear()
    clearTimeout(late)
    release?.()
    return true
  }
  const takePlace = (): void => {
    if (isOver) return
    release = known.take()
    const refusal = release
      ? new Refusal('invalid_request', tooLate)
      : new Refusal('rate_limited', tooMany)
    const restMs = release ? Math.max(0, known.timeoutMs() - slowAfterMs) : 0
    late = setTimeout(() => end() && reject(refusal), restMs)
  }
  // After a pause of this process it is slow only if a look at the sockets finds nothing either.
  const soon = deadlineIn(slowAfterMs, () => setImmediate(takePlace))
  reading.then(
    (body) => end() && resolve(body),
    (error: unknown) => end() && reject(error),
  )
  return promise
}

/** What is still on its way is not waited for. */
const headers = { connection: 'close' }

const tooLate = { message: 'The body took too long to arrive. Send it again, faster.', headers }
const tooMany = {
  message: 'Too many bodies from your network address arrive slowly. Wait for them to end.',
  headers: { ...headers, 'retry-after': '2', 'retry-after-ms': '2000' },
}
