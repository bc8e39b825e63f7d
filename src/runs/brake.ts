/** Pauses a key whose runs would exceed its brake. */
import { noteKey, tellKey } from '../access/keys/note.ts'
import type { Deps } from '../app/deps-port.ts'
import { toJsonInteger, toUsd } from '../kernel/money.ts'
import { Refusal } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import { notAStatus } from '../kernel/status-safe.ts'
import { brakesOf, isMostlySpent } from '../ledger/brake.ts'
import type { Passed } from '../ledger/hold.ts'
import { nameOf } from './shortage.ts'

/** The refusal of a hold that would pass a brake. {@link pullBrake} follows where it is spent. */
export class BrakePassed extends Refusal {
  constructor(readonly passed: Passed) {
    const waits = !passed.isAlone && !passed.isSpent
    super(passed.isAlone ? 'cap_exceeded' : waits ? 'rate_limited' : 'key_paused', {
      message: wordsOf(passed),
      metadata: metadataOf(passed),
      ...(waits && { headers: retryHeaders(passed.waitMs) }),
    })
  }
}

function wordsOf(passed: Passed): string {
  const { span, limit, required, isAlone, isSpent } = passed
  const rate = `The brake of ${nameOf(passed)} allows $${notAStatus(toUsd(limit))} a ${span}`
  const cost = `$${notAStatus(toUsd(required))}`
  if (isAlone) {
    return (
      `${rate}, and this run alone may cost ${cost}. Lower max_tokens or send less; the owner ` +
      'can raise limits.brake.'
    )
  }
  return isSpent
    ? `${rate}, and this run would pass it: the key is paused. Its owner can look at its runs ` +
        'and resume it.'
    : `${rate}, and with what open runs may still cost there is no room for a run of up to ` +
        `${cost}. Wait as long as Retry-After says, or lower max_tokens.`
}

const metadataOf = ({ key, span, limit, required, available, isSpent, isAlone }: Passed) => ({
  limited_by: 'brake' as const,
  ...(isSpent && !isAlone && { paused_reason: 'brake' as const }),
  blocking_key_id: key.id,
  span,
  limit_nusd: toJsonInteger(limit),
  required_nusd: toJsonInteger(required),
  required_usd: notAStatus(toUsd(required)),
  available_nusd: toJsonInteger(available),
  available_usd: notAStatus(toUsd(available)),
})

/**
 * Pauses the key whose brake a hold would have passed, with the reason, once however many holds
 * were refused; not for a run that alone would pass it, nor for one that only open runs delay.
 * Open runs finish, or are stopped within two seconds, as its owner chose.
 */
export async function pullBrake(
  deps: Pick<Deps, 'ledger' | 'keys' | 'ids' | 'log'>,
  passed: Passed,
): Promise<void> {
  if (passed.isAlone || !passed.isSpent) return
  try {
    await pause(deps, passed)
  } catch (error) {
    // If this fails, the next hold beyond the rate tries again; each is refused in any case.
    deps.log.error('brake.not_pulled', error, { key: passed.key.id })
  }
}

async function pause(
  { ledger, keys, ids, log }: Pick<Deps, 'ledger' | 'keys' | 'ids' | 'log'>,
  { key: { id, accountId, lineage }, span, start, limit }: Passed,
): Promise<void> {
  const isPulled = await ledger.post({
    isExempt: true,
    account: accountId,
    keys: lineage,
    decide(unit) {
      const key = unit.key(id)
      if (!key || key.pausedAt !== null || key.revokedAt !== null) return false
      // The minute may be over by now, or the owner removed the brake.
      const brake = brakesOf(key, unit.now).find((one) => one.start === start)
      if (!brake || !isMostlySpent(brake, unit.brakeWindow(key, brake))) return false
      key.pausedAt = unit.now
      key.pausedReason = 'brake'
      unit.changed('key', key)
      const detail = { reason: 'brake', span, limit_nusd: limit.toString() }
      noteKey(unit, ids, key, { actor: 'brake', action: 'key.pause', detail })
      const more = { span, limit_nusd: toJsonInteger(limit), running: key.brakeRunning ?? 'finish' }
      tellKey(unit, key, { type: 'brake.pulled', actor: 'brake', more })
      return true
    },
  })
  keys.forget(id)
  if (isPulled) log.warn('brake.pulled', { key: id, span })
}
