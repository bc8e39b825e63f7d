import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import { creditDue } from './credit.ts'
import type { DepositPolicy } from './deposit.ts'
import { newReach, type Reach, scan } from './scan.ts'
import { headsOf } from './second.ts'
import { checkToken } from './token.ts'

type Needs = Pick<
  Deps,
  | 'deposits'
  | 'depositPolicy'
  | 'chain'
  | 'secondChain'
  | 'ledger'
  | 'health'
  | 'ids'
  | 'clock'
  | 'log'
>

/** Between looks after a trouble: first, and at the most, in ms. */
const restFirstMs = 1000
const restMostMs = 30_000

/**
 * The watcher as a job: looks for deposits, and credits what stands deep enough. After any trouble
 * the chain and the token are asked again who they are before anything else; while they are not
 * what is configured, nothing is credited.
 */
export function depositWatcher(deps: Needs): () => Promise<void> {
  const { chain, depositPolicy: policy, clock, health } = deps
  const reach = newReach()
  let isChecked = false
  let failures = 0
  let restsUntil = Number.NEGATIVE_INFINITY
  return async () => {
    if (!chain || !policy || clock.monotonic() < restsUntil) return
    isChecked &&= health.deposits.trouble === null
    const trouble = await attempt(deps, async () => {
      if (!isChecked && !(await isRight(deps, chain, policy))) return
      isChecked = true
      await look(deps, chain, policy, reach)
      health.deposits = { ...health.deposits, trouble: null, isChecked }
    })
    failures = trouble || health.deposits.trouble !== null ? failures + 1 : 0
    if (failures === 0) return
    isChecked = false
    const rest = Math.min(restFirstMs * 2 ** (failures - 1), restMostMs)
    restsUntil = clock.monotonic() + rest
  }
}

/** One look, when everything is as it should be. */
async function look(deps: Needs, chain: Chain, policy: DepositPolicy, reach: Reach): Promise<void> {
  const lease = await deps.deposits.takeLease()
  if (!lease) {
    deps.health.deposits.doubts = []
    return
  }
  const on = { chain, lease, policy }
  const heads = await headsOf(chain)
  await scan(deps, { ...on, latest: heads.latest }, reach)
  await creditDue(deps, on, heads)
  deps.health.deposits.cursor = (await deps.deposits.cursor()) ?? null
}

/** Whether the token is the one that is configured; tells when its code is another than before. */
async function isRight(
  { deposits, health, log }: Needs,
  chain: Chain,
  policy: DepositPolicy,
): Promise<boolean> {
  const check = await checkToken(chain, policy)
  if (check.trouble !== null) {
    if (health.deposits.trouble !== check.trouble) {
      const what = `${words[check.trouble]} ${policy.token}; no deposit is credited`
      log.error('deposits.refused', new Error(what))
    }
    health.deposits.trouble = check.trouble
    return false
  }
  const before = await deposits.settleCode(policy.token, check.codeHash)
  if (before !== check.codeHash) log.warn('deposits.token_changed', { token: policy.token })
  return true
}

const words = {
  no_token: 'there is no token with decimals() at',
  wrong_decimals: 'the decimals differ from [chain] token_decimals, of the token at',
}

/** True when the chain did not let it finish; what else goes wrong is thrown on. */
async function attempt({ health, log }: Needs, work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return false
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    if (error.reason === 'closed') return true
    if (health.deposits.trouble !== error.reason) {
      log.warn('deposits.unavailable', { reason: error.reason })
    }
    health.deposits.trouble = error.reason
    return true
  }
}
