import type { Deps } from '../deps.ts'
import { type Limiter, tooMany } from '../http/limits.ts'
import type { Chain } from '../keys/key.ts'
import { begin } from '../runs/begin.ts'
import type { LiveRun } from '../runs/live.ts'
import { type Asked, toAsk, toRequest } from './ask-api.ts'
import { payerOf } from './key.ts'

export type Needs = Pick<
  Deps,
  | 'accounts'
  | 'catalogue'
  | 'clock'
  | 'console'
  | 'health'
  | 'ids'
  | 'keys'
  | 'ledger'
  | 'live'
  | 'log'
  | 'random'
  | 'runs'
  | 'sequencer'
  | 'sessions'
  | 'settings'
  | 'texts'
  | 'upstreams'
>

type Wish = { asked: Asked; account: string; address: string }

/**
 * Begins the run of a question. What is asked is checked before anything is made or held.
 * @throws Refusal of whatever stands against it: nothing is held then.
 */
export async function beginAsked(
  deps: Needs,
  requests: Limiter,
  { asked, account, address }: Wish,
): Promise<LiveRun> {
  const { model, body } = toRequest(deps, toAsk(asked))
  const caller = await payerOf(deps, account, address)
  countRequest(requests, caller.chain)
  const { received } = asked
  return begin(deps, { caller, model, body, received, background: false, tags: {}, metadata: {} })
}

/** Of this key's requests the guard of `/v1` sees none: nobody has its secret. */
function countRequest(requests: Limiter, chain: Chain): void {
  for (const { id, rpm } of chain) {
    const verdict = rpm === null ? undefined : requests.take(id, rpm)
    if (verdict?.ok === false) throw tooMany(verdict.retryAfterMs, 'rate_limited')
  }
}
