/** Begins the run of a question, with all limits of the console. */
import type { Caller } from '../../../access/keys/key.ts'
import type { Deps } from '../../../app/deps-port.ts'
import type { Actor } from '../../../kernel/acting.ts'
import type { Once } from '../../../ledger/once.ts'
import { begin } from '../../../runs/begin.ts'
import type { LiveRun } from '../../../runs/live-run.ts'
import type { OpenedRun } from '../../../runs/opening.ts'
import { type Limiter, tooMany } from '../../../web/http/limits.ts'
import { payerOf } from '../console-key.ts'
import { type Question, toAsk, toRequest } from './question.ts'

type BeginRequest = {
  asked: Question
  acting: Actor
  /** The id of the session that asks: the run stops with it. */
  session: string
  address: string
  once?: Once<OpenedRun> | undefined
}

/**
 * Begins the run of a question, after it checked the question. Before that it makes no hold.
 * @throws Refusal of the check or limit that fails; then no money is held.
 */
export async function beginAsked(
  deps: Deps,
  requests: Limiter,
  { asked, acting, session, address, once }: BeginRequest,
): Promise<LiveRun> {
  const { model, body } = toRequest(deps, toAsk(deps, asked))
  const caller = await payerOf(deps, acting, address)
  countRequest(requests, caller)
  const { received } = asked
  const fit = caller.key.fit
  const wish = { caller, model, body, received, fit, background: false, tags: {}, metadata: {} }
  return begin(deps, { ...wish, session, once })
}

/** Counts requests here: the secret of this key is unknown, so the guard of `/v1` sees none. */
function countRequest(requests: Limiter, { chain, plan }: Caller): void {
  for (const { id, rpm } of chain) {
    const verdict = requests.take(id, Math.min(rpm ?? plan.limits.rpm, plan.limits.rpm))
    if (!verdict.ok) throw tooMany(verdict.retryAfterMs, 'rate_limited')
  }
}
