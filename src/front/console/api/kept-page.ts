/** Keeps the page of an answer, so that its address can be loaded again without another run. */
import type { Deps } from '../../../app/deps-port.ts'
import { type Actor, whoOf } from '../../../kernel/acting.ts'
import { sha256Hex } from '../../../kernel/hash.ts'
import { isId } from '../../../kernel/ids.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import type { LiveRun } from '../../../runs/live-run.ts'
import type { Call } from '../../../storage/idempotency/call.ts'
import { jsonReply } from '../../../web/http/answer-once.ts'
import { navigates } from '../../../web/ui/reply.ts'
import type { FaultWords } from '../fault-words.ts'
import type { Exchange } from '../portal/console-view.ts'
import { answerByPage, type ConsolePage } from './answer-page.ts'
import type { Draft, Question } from './question.ts'

/** A page as it is kept: its run is read again. */
type KeptPage = Omit<ConsolePage, 'said'> & {
  said?: Omit<Exchange, 'run'>
  runId?: string | undefined
}

/**
 * Names a question by the form it was sent with and by its fields: the same form sent again is the
 * same question, an edited one is another. Undefined for a form that this page did not write.
 */
function talkOf({ replies }: Pick<Deps, 'replies'>, asked: Question): string | undefined {
  const { once, received } = asked
  if (!isId('req', once)) return undefined
  return sha256Hex(`${once}\n${replies.fingerprint(JSON.stringify(received))}`)
}

/** The call that a question is; its answer is kept as that of every call, sealed and for a day. */
const callOfTalk = ({ replies }: Pick<Deps, 'replies'>, acting: Actor, talk: string): Call => ({
  scope: sha256Hex(`${whoOf(acting)}\nconsole page\n${talk}`),
  fingerprint: replies.fingerprint(talk),
})

/** Seals a page for the call that it answers. */
function sealPage({ replies }: Pick<Deps, 'replies'>, scope: string, page: ConsolePage) {
  const { said, ...rest } = page
  const kept: KeptPage = said
    ? { ...rest, said: { ...said, run: undefined } as Omit<Exchange, 'run'>, runId: said.run?.id }
    : rest
  return replies.seal(scope, jsonReply(200, {}, kept))
}

/**
 * Answers a form: with the page, or with the name of the question where its page is kept. Sent
 * again it is not asked again.
 */
export async function answerForm(
  deps: Deps,
  { request, acting, asked }: { request: Request; acting: Actor; asked: Question },
  begin: (call?: Call) => Promise<LiveRun>,
): Promise<ConsolePage | { talk: string }> {
  const { draft } = asked
  const talk = navigates(request) ? talkOf(deps, asked) : undefined
  if (talk === undefined) return answerByPage(deps, request, draft, () => begin())
  const call = callOfTalk(deps, acting, talk)
  if (await deps.calls.find(call.scope)) return { talk }
  const seal = (page: ConsolePage) => sealPage(deps, call.scope, page)
  const answered = await answerByPage(deps, request, draft, () => begin(call), seal)
  const { fault } = await pageOfTalk(deps, acting, talk, draft)
  return fault === missing ? answered : { talk }
}

/** Returns the page that is kept of a question, or why there is none. */
export async function pageOfTalk(
  deps: Deps,
  acting: Actor,
  talk: string,
  draft: Draft,
): Promise<ConsolePage> {
  try {
    const found = await findPage(deps, callOfTalk(deps, acting, talk))
    return found ?? { draft, status: 200, fault: missing }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const isRunning = error.type === 'idempotency_in_progress'
    return { draft, status: 200, fault: isRunning ? running : missing }
  }
}

/** @throws Refusal `idempotency_in_progress`, `conflict` if it was not kept or was erased. */
async function findPage(
  { calls, replies, runs, clock }: Deps,
  call: Call,
): Promise<ConsolePage | undefined> {
  const known = await calls.find(call.scope)
  if (!known || known.until <= clock.now()) return undefined
  const { said, runId, ...rest } = JSON.parse(replies.answerOf(known, call).body) as KeptPage
  if (!said) return rest
  return { ...rest, said: { ...said, run: runId ? await runs.find(runId) : undefined } }
}

const running: FaultWords = {
  what: 'This question is still being answered.',
  charged: 'Load this page again in a moment. Loading it sends nothing.',
  receiptId: undefined,
}

const missing: FaultWords = {
  what: 'This answer is no longer kept.',
  charged: 'Answers stay here for a day. The receipt of the run is under Receipts.',
  receiptId: undefined,
}
