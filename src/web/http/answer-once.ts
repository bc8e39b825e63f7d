/** Answers a request with an Idempotency-Key once, and replays that answer. */
import type { Deps } from '../../app/deps-port.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { Call, Reply } from '../../storage/idempotency/call.ts'
import { readIdempotencyKey } from './idempotency-key.ts'

type Asked = {
  request: Request
  /** A key id or an account. */
  who: string
  /** Method and path. */
  route: string
  /** The body as received. */
  text: string
}

/**
 * The call that a request with an Idempotency-Key is; undefined without one.
 * @throws Refusal `invalid_request`
 */
export function callOf(
  { replies }: Pick<Deps, 'replies'>,
  { request, who, route, text }: Asked,
): Call | undefined {
  const key = readIdempotencyKey(request.headers)
  if (key === undefined) return undefined
  const scope = sha256Hex(`${who}\n${route}\n${key}`)
  return { scope, fingerprint: replies.fingerprint(text) }
}

type Context = { set: { headers: Record<string, unknown> } }

/**
 * Runs `make` for a first call, or without one; replays the stored answer of a repeated call.
 * @throws Refusal `idempotency_mismatch`, `idempotency_in_progress`, `conflict`, or that of `make`.
 */
export async function answerOnce<T>(
  deps: Pick<Deps, 'calls' | 'replies' | 'clock'>,
  context: Context,
  call: Call | undefined,
  make: () => Promise<T>,
): Promise<T | Response> {
  if (!call) return make()
  const again = await findReply(deps, call)
  if (again) return replay(context, again)
  try {
    return await make()
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'idempotency_in_progress') throw error
    // A concurrent call won, and may have its answer by now.
    const theirs = await findReply(deps, call)
    if (!theirs) throw error
    return replay(context, theirs)
  }
}

async function findReply(
  { calls, replies, clock }: Pick<Deps, 'calls' | 'replies' | 'clock'>,
  call: Call,
) {
  const known = await calls.find(call.scope)
  return known && known.until > clock.now() ? replies.answerOf(known, call) : undefined
}

/** Keeps the headers of this request and adds those of the stored answer. */
function replay({ set }: Context, { status, headers, body }: Reply): Response {
  const all: Record<string, string> = {}
  for (const [name, value] of Object.entries(set.headers)) all[name] = String(value)
  // Elysia copies a Response that it has to merge any into.
  set.headers = {}
  return new Response(body, {
    status,
    headers: { ...all, ...headers, 'idempotent-replayed': 'true' },
  })
}

/** A JSON answer, to be stored for replays. */
export const jsonReply = (
  status: number,
  headers: Record<string, string>,
  body: object,
): Reply => ({
  status,
  headers: { 'content-type': 'application/json;charset=utf-8', ...headers },
  body: JSON.stringify(body),
})
