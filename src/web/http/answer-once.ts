/** Reads bodies, and answers a request with an Idempotency-Key once: a repeated one is replayed. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { Deps } from '../../app/deps-port.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { Refusal } from '../../kernel/refusal.ts'
import type { Call, Reply } from '../../storage/idempotency/call.ts'
import { type JsonBody, readJson } from './body.ts'
import { checkBody } from './check-body.ts'
import { readIdempotencyKey } from './idempotency-key.ts'

type OnceRequest = {
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
  { request, who, route, text }: OnceRequest,
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

type BodyRequest<S> = Omit<OnceRequest, 'text'> & {
  shape: S
  /** Whether the body may be missing: it is then one without members. */
  isOptional?: true
}

/**
 * Reads and checks the body of a route that makes something or spends, and answers it once. Call it
 * after the guards.
 * @throws Refusal as {@link readJson}, {@link answerOnce} and `make`
 */
export async function answerBody<S extends TSchema, T>(
  deps: Pick<Deps, 'calls' | 'replies' | 'clock' | 'settings'>,
  context: Context,
  { shape, isOptional, ...asked }: BodyRequest<S>,
  make: (body: Static<S>, call: Call | undefined) => Promise<T>,
): Promise<T | Response> {
  const { value, text } = await readSent(deps, asked.request, isOptional)
  const call = callOf(deps, { ...asked, text })
  return answerOnce(deps, context, call, async () => make(checkBody(shape, value), call))
}

/** Reads and checks the body of a request. @throws Refusal as {@link readJson} */
export async function readBody<S extends TSchema>(
  deps: Pick<Deps, 'settings'>,
  request: Request,
  shape: S,
  isOptional?: true,
): Promise<Static<S>> {
  return checkBody(shape, (await readSent(deps, request, isOptional)).value)
}

async function readSent(
  { settings }: Pick<Deps, 'settings'>,
  request: Request,
  isOptional: true | undefined,
): Promise<JsonBody> {
  const isEmpty = request.body === null || request.headers.get('content-length') === '0'
  if (isOptional && isEmpty) return { value: {}, text: '' }
  return readJson(request, { limitBytes: settings.bodyBytes })
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

/** A JSON answer, to be stored for replays; `body` may be its text. */
export const jsonReply = (
  status: number,
  headers: Record<string, string>,
  body: object | string,
): Reply => ({
  status,
  headers: { 'content-type': 'application/json;charset=utf-8', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
