/** The job that looks for deposits and credits them. */
import type { Deps } from '../../app/deps-port.ts'
import { type Chain, ChainUnavailable } from '../../kernel/chain.ts'
import { creditDue } from './credit.ts'
import { headsOf } from './cross-check.ts'
import type { DepositPolicy } from './deposit.ts'
import { newReach, type Reach, scan } from './scan.ts'
import { checkToken, readSymbol } from './token.ts'

/** The pause after an error: the first, doubled up to the longest, in ms. */
const firstPauseMs = 1000
const maxPauseMs = 30_000

/**
 * After any error the chain and the token are checked again first. Nothing is credited while they
 * differ from the configuration.
 */
export function depositWatcher(deps: Deps): () => Promise<void> {
  const { chain, depositPolicy: policy, clock, health } = deps
  const reach = newReach()
  let isChecked = false
  let failures = 0
  let pausedUntil = Number.NEGATIVE_INFINITY
  return async () => {
    if (!chain || !policy || clock.monotonic() < pausedUntil) return
    isChecked &&= health.deposits.trouble === null
    const trouble = await attempt(deps, async () => {
      if (!isChecked && !(await isTokenValid(deps, chain, policy))) return
      isChecked = true
      await look(deps, chain, policy, reach)
      health.deposits = { ...health.deposits, trouble: null, isChecked }
    })
    failures = trouble || health.deposits.trouble !== null ? failures + 1 : 0
    if (failures === 0) return
    isChecked = false
    const pause = Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs)
    pausedUntil = clock.monotonic() + pause
  }
}

/** One scan, after the checks passed. */
async function look(deps: Deps, chain: Chain, policy: DepositPolicy, reach: Reach): Promise<void> {
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

/** Whether the token is as configured; warns if its code changed. */
async function isTokenValid(
  { deposits, health, log }: Pick<Deps, 'deposits' | 'health' | 'log'>,
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
  health.deposits.symbol = await readSymbol(chain, policy.token)
  const before = await deposits.ensureCode(policy.token, check.codeHash)
  if (before !== check.codeHash) log.warn('deposits.token_changed', { token: policy.token })
  return true
}

const words = {
  no_token: 'there is no token with decimals() at',
  wrong_decimals: 'the decimals differ from [chain] token_decimals, of the token at',
}

/** True if the chain was unavailable; other errors are thrown. */
async function attempt(
  { health, log }: Pick<Deps, 'deposits' | 'health' | 'log'>,
  work: () => Promise<void>,
): Promise<boolean> {
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
