/** Reads the bodies of `/v1/keys`: what they ask for, in the terms of the commands. */
import type { Millis } from '../../kernel/clock.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import type { ChangeBody, MintBody } from './api/key-body.ts'
import { everyRight } from './bounds.ts'
import type { KeyChange } from './change.ts'
import type { KeyRequest } from './issue.ts'
import { everyLimit, type LimitsChange } from './key-limits.ts'

/** @throws Refusal `invalid_request` with `param`. */
export const toMintRequest = (body: MintBody): Omit<KeyRequest, 'account' | 'actor'> => ({
  ...toChange(body),
  name: body.name,
  capLimit: BigInt(body.cap.limit_nusd),
  capWindow: body.cap.window ?? 'lifetime',
  parentId: body.parent_id,
})

/**
 * Reads a change of a key; members that the body leaves out stay out.
 * @throws Refusal `invalid_request` with `param`.
 */
export function toChange({ cap, expires_at, limits, ...body }: ChangeBody): KeyChange {
  const sent: Readonly<Record<string, unknown>> = {
    ...body,
    'cap.limit_nusd': cap && BigInt(cap.limit_nusd),
    expires_at: expires_at === undefined ? undefined : readTime(expires_at),
  }
  const rights = everyRight.map(([column, { member }]) => [column, sent[member]] as const)
  const given = rights.filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(given), ...toLimits(limits ?? {}) }
}

function toLimits({ brake, ...rest }: NonNullable<ChangeBody['limits']>): LimitsChange {
  const named: Readonly<Record<string, unknown>> = rest
  const given = everyLimit.filter(([, { member }]) => named[member] !== undefined)
  const limits = given.map(([column, { member, read }]) => [
    column,
    named[member] === null ? null : read(named[member]),
  ])
  return { ...Object.fromEntries(limits), ...(brake === undefined ? {} : toBrake(brake)) }
}

/** A brake is changed whole: what a body leaves out of it is not limited. */
function toBrake(brake: NonNullable<ChangeBody['limits']>['brake']) {
  const { nusd_per_minute: minute = null, nusd_per_hour: hour = null, running } = brake ?? {}
  const isSet = minute !== null || hour !== null
  return {
    brakeMinute: minute === null ? null : BigInt(minute),
    brakeHour: hour === null ? null : BigInt(hour),
    brakeRunning: isSet ? (running ?? ('finish' as const)) : null,
  }
}

/** @throws Refusal `invalid_request` unless it is an RFC 3339 time. */
export function readTime(written: string): Millis {
  return (
    parseTime(written) ??
    refuseField('expires_at', 'Write the expiry as RFC 3339: 2027-01-31T00:00:00Z.')
  )
}
