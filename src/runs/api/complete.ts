/** Answers a run with its whole output at once. */
import type { Deps } from '../../app/deps-port.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { type ErrorForm, ourErrors } from '../../kernel/refusal.ts'
import { jsonReply } from '../../storage/idempotency/api/answer-once.ts'
import type { BodyRoom } from '../../web/http/body-budget.ts'
import { answerText } from '../../web/http/json-text.ts'
import { refusalHeaders } from '../../web/http/refusal-headers.ts'
import { type Completed, complete } from '../complete.ts'
import type { Keep } from '../ending.ts'
import type { LiveRun } from '../live-run.ts'
import type { Finished } from '../settlement.ts'
import { stopWithWaiting } from './client-gone.ts'
import { ignoredHeader } from './ignored.ts'
import { loweredHeader } from './lowered.ts'

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
  toAnswer: (done: Completed) => object,
  { errors = ourErrors, items }: { errors?: ErrorForm; items?: Keep<Completed>['items'] } = {},
): Promise<Response> {
  live.takeRoom(room)
  const listening = stopWithWaiting(live, request)
  const isKept = live.call !== undefined
  try {
    const keep = isKept ? keepOf(deps, set, live, { toAnswer, errors }) : undefined
    const done = await complete(deps, live, items ? { ...keep, items } : keep)
    Object.assign(set.headers, headersOf(done, live))
    return answerText(set, JSON.stringify(toAnswer(done)))
  } finally {
    listening.clear()
  }
}

type Writing = {
  toAnswer: (done: Completed) => object
  errors: ErrorForm
}

/** Seals the answer of a call with an Idempotency-Key, as it is told. */
const keepOf = (
  { replies }: Deps,
  set: Context['set'],
  live: LiveRun,
  { toAnswer, errors }: Writing,
): Keep<Completed> => {
  const scope = live.call ?? ''
  return {
    done: (done) => replies.seal(scope, jsonReply(200, headersOf(done, live), toAnswer(done))),
    failed(refusal) {
      const body = errors.toBody(refusal, String(set.headers['x-request-id'] ?? ''))
      return replies.seal(scope, jsonReply(errors.statusOf(refusal), refusalHeaders(refusal), body))
    },
  }
}

const headersOf = ({ receiptId, run }: Finished, live: LiveRun) => ({
  'x-receipt-id': receiptId,
  'x-cost-nusd': String(toJsonInteger(run.cost)),
  ...(live.bound.isLowered ? loweredHeader(live.bound) : {}),
  ...ignoredHeader(live),
})
