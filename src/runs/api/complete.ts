/** Answers a run with its whole output at once, and says in any answer what it could not do. */
import type { Deps } from '../../app/deps-port.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { type ErrorForm, ourErrors } from '../../kernel/refusal.ts'
import type { Bound } from '../../models/bound.ts'
import { jsonReply } from '../../web/http/answer-once.ts'
import { answerText } from '../../web/http/json-text.ts'
import type { BodyRoom } from '../../web/http/memory-budget.ts'
import { refusalHeaders } from '../../web/http/refusal-headers.ts'
import { type CompletedAnswer, complete } from '../complete.ts'
import type { ReplyKeeper } from '../ending.ts'
import { type LiveRun, stopWithWaiting } from '../live-run.ts'
import type { FinishedRun } from '../settlement.ts'

type Context = {
  request: Request
  set: { headers: Record<string, string | number> }
  room?: BodyRoom | undefined
}

/** The whole answer for a client that waits for it; one that hangs up stops the run. */
export async function answerWhole(
  deps: Deps,
  { request, set, room }: Context,
  live: LiveRun,
  toAnswer: (done: CompletedAnswer) => object,
  {
    errors = ourErrors,
    items,
  }: { errors?: ErrorForm; items?: ReplyKeeper<CompletedAnswer>['items'] } = {},
): Promise<Response> {
  live.takeRoom(room)
  const listening = stopWithWaiting(live, request)
  const kept = live.call === undefined ? undefined : keepOf(deps, set, live, { toAnswer, errors })
  try {
    const done = await complete(deps, live, items ? { ...kept?.keep, items } : kept?.keep)
    Object.assign(set.headers, headersOf(done, live))
    return answerText(set, kept?.text ?? JSON.stringify(toAnswer(done)))
  } finally {
    listening.clear()
  }
}

type AnswerWriter = {
  toAnswer: (done: CompletedAnswer) => object
  errors: ErrorForm
}

type KeptAnswer = {
  keep: ReplyKeeper<CompletedAnswer>
  /** The answer, once it is sealed. */
  text: string | undefined
}

/** Seals the answer of a call with an Idempotency-Key, as it is told. */
function keepOf(
  { replies }: Deps,
  set: Context['set'],
  live: LiveRun,
  { toAnswer, errors }: AnswerWriter,
): KeptAnswer {
  const scope = live.call ?? ''
  const kept: KeptAnswer = {
    text: undefined,
    keep: {
      done(done) {
        kept.text = JSON.stringify(toAnswer(done))
        return replies.seal(scope, jsonReply(200, headersOf(done, live), kept.text))
      },
      failed(refusal) {
        const body = errors.toBody(refusal, String(set.headers['x-request-id'] ?? ''))
        const status = errors.statusOf(refusal)
        return replies.seal(scope, jsonReply(status, refusalHeaders(refusal), body))
      },
    },
  }
  return kept
}

const headersOf = ({ receiptId, run }: FinishedRun, live: LiveRun) => ({
  'x-receipt-id': receiptId,
  'x-cost-nusd': String(toJsonInteger(run.cost)),
  ...limitHeaders(live),
})

/**
 * The headers that say how an answer falls short of its request: the most tokens, where that was
 * lowered to the model's limit or to fit, and the members without effect. Ask after the model
 * server was asked: before, these are not known.
 */
export function limitHeaders({ bound, ignored }: LiveRun): Record<string, string> {
  const headers: Record<string, string> = {}
  if (bound.isLowered) headers['x-counterfoil-max-tokens'] = String(bound.maxTokens)
  if (ignored.length === 0) return headers
  // Names come from the request: only what a header may hold goes into one.
  const names = [...new Set(ignored)].filter((name) => /^[\w .-]{1,80}$/.test(name)).slice(0, 32)
  if (names.length > 0) headers['x-counterfoil-ignored'] = names.join(', ')
  return headers
}

/** The most tokens of an answer in its body, for a client that asked to lower it. */
export const fittedOf = ({ maxTokens }: Bound, fit: boolean): { max_output_tokens?: number } =>
  fit && maxTokens > 0 ? { max_output_tokens: maxTokens } : {}
