/** Knows the requests whose answers are not there yet: where they come from, and for whom. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { clientAddress, type PeerSource, rateKey, trustedProxies } from './client-address.ts'
import { BodyRoom, type Holder, type MemoryBudget, StreamRoom, smallBody } from './memory-budget.ts'

type Limits = {
  settings: Pick<Deps['settings'], 'bodyTimeoutS' | 'slowBodies' | 'trustedProxies'>
  memory: MemoryBudget
}

/** The state that the bodies of one service share. */
class Bodies {
  readonly isTrusted: ReturnType<typeof trustedProxies>
  readonly settings: Limits['settings']
  readonly budget: MemoryBudget
  /** Slow ones by the client that sends them. */
  readonly slow = new Map<string, number>()

  constructor({ settings, memory }: Limits) {
    this.settings = settings
    this.isTrusted = trustedProxies(settings.trustedProxies)
    this.budget = memory
  }
}

/** A request whose body was not read yet, and the connection it came by. */
export class ExpectedBody {
  /** Undefined for a caller without a key or a session. */
  account: string | undefined

  constructor(
    readonly bodies: Bodies,
    private readonly request: Request,
    private readonly server: PeerSource | null,
  ) {}

  /** The network that its sender is counted under. */
  client(): string {
    return rateKey(clientAddress(this.request, this.server, this.bodies.isTrusted))
  }

  /** The holder of the memory that it takes. */
  holder(): Holder {
    return { holder: this.account ?? this.client(), isStranger: this.account === undefined }
  }

  /** The length that its head announces, in bytes, of a caller with an account; else 0. */
  announcedBytes(): number {
    if (this.account === undefined) return 0
    return Number(this.request.headers.get('content-length') ?? 0)
  }
}

const expected = new WeakMap<Request, ExpectedBody>()

/** Notes a request. @throws Refusal for one whose length is not a number */
export type ExpectBody = (request: Request, server: PeerSource | null) => void

/**
 * Bodies, counted by the address they come from until their account is known. Bun tells of a
 * connection only once the head of a request is there, so this is the first moment at which it can
 * be counted. A GET has no body that is read, but its answer may be a stream.
 */
export function expectBodies(limits: Limits): ExpectBody {
  const bodies = new Bodies(limits)
  return (request, server) => {
    if (request.method !== 'GET') assertOneLength(request)
    expected.set(request, new ExpectedBody(bodies, request, server))
  }
}

/**
 * Every limit of a body begins with its announced length. Bun joins two equal headers to "5, 5",
 * which is not a number, and no limit holds for that (RFC 9110 §8.6 lets a server refuse it).
 * @throws Refusal `invalid_request`
 */
function assertOneLength({ headers }: Request): void {
  const length = headers.get('content-length')
  if (length === null || /^\d{1,15}$/.test(length)) return
  refuse('invalid_request', 'Send one Content-Length, a whole number of bytes.')
}

export const expectedBody = (request: Request): ExpectedBody | undefined => expected.get(request)

/** Notes the account that a request is made for, before its body is read. */
export function noteAccount(request: Request, account: string): void {
  const known = expected.get(request)
  if (known) known.account = account
}

/** Whether the body of a request takes room: it is large, or its length is unknown. */
export function takesRoom({ headers }: Request): boolean {
  const length = headers.get('content-length')
  return length === null || Number(length) > smallBody || headers.has('content-encoding')
}

/** The room for the body of a request, which takes none yet; undefined where it needs none. */
export function roomFor(request: Request): BodyRoom | undefined {
  const known = takesRoom(request) ? expected.get(request) : undefined
  return known && new BodyRoom(known.bodies.budget, known.holder())
}

/** The room for a stream that answers a request, which takes none yet. */
export function streamRoomFor(request: Request, stream: { leave(): void }): StreamRoom | undefined {
  const known = expected.get(request)
  return known && new StreamRoom(known.bodies.budget, known.holder(), stream)
}
