/** Answers a question to the console with JSON. */
import type { Deps } from '../../../app/deps-port.ts'
import { toErrorBody } from '../../../kernel/refusal.ts'
import type { ReplyKeeper } from '../../../runs/ending.ts'
import { type LiveRun, stopWithClient } from '../../../runs/live-run.ts'
import { toReceiptLink } from '../../../runs/openai.ts'
import { toRunView } from '../../../runs/run-view.ts'
import type { StreamedAnswer } from '../../../runs/stream.ts'
import { jsonReply } from '../../../web/http/answer-once.ts'
import { refusalHeaders } from '../../../web/http/refusal-headers.ts'
import { runChat, withCharge } from '../chat-run.ts'

type Context = { request: Request; set: { headers: Record<string, string | number> } }

/** The run when it has ended, for a program that asks for JSON and not for a stream. */
export async function answerProgram(deps: Deps, live: LiveRun, { request, set }: Context) {
  stopWithClient(live, request.signal)
  const { call } = live
  const requestId = String(set.headers['x-request-id'] ?? '')
  const keep = call === undefined ? undefined : keepOf(deps, call, requestId)
  return toAnswer(deps, await runChat(deps, live, { send: () => undefined }, keep))
}

const toAnswer = ({ settings }: Deps, done: StreamedAnswer) => ({
  ...toRunView(done.run, done.choices),
  receipt: toReceiptLink(done, settings),
})

const keepOf = (deps: Deps, scope: string, requestId: string): ReplyKeeper<StreamedAnswer> => ({
  done: (done) => deps.replies.seal(scope, jsonReply(200, {}, toAnswer(deps, done))),
  failed: (refusal, run) => {
    const charged = withCharge(refusal, run)
    const body = toErrorBody(refusal, requestId)
    return deps.replies.seal(scope, jsonReply(charged.status, refusalHeaders(charged), body))
  },
})
