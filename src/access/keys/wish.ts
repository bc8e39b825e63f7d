/** Reads the bodies of `/v1/keys`: what they ask for, in the terms of the commands. */
import type { Millis } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import type { ChangeBody, MintBody } from './api/key-body.ts'
import type { KeyChange } from './change.ts'
import type { KeyWish } from './issue.ts'
import { type Scope, scopes } from './key.ts'
import { everyLimit, type LimitsWish } from './key-limits.ts'

/** @throws Refusal `invalid_request` with `param`. */
export const toWish = (body: MintBody): Omit<KeyWish, 'account' | 'actor'> => ({
  name: body.name,
  capLimit: BigInt(body.cap.limit_nusd),
  capWindow: body.cap.window ?? 'lifetime',
  parentId: body.parent_id,
  ...toRights(body),
})

/** @throws Refusal `invalid_request` with `param`. */
export const toChange = (body: ChangeBody): KeyChange => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.cap === undefined ? {} : { capLimit: BigInt(body.cap.limit_nusd) }),
  ...toRights(body),
})

/** The rights in a body; members that it leaves out stay out. */
function toRights(body: Omit<ChangeBody, 'name' | 'cap'>) {
  return {
    ...(body.expires_at === undefined ? {} : { expiresAt: readTime(body.expires_at) }),
    ...(body.scopes === undefined ? {} : { scopes: body.scopes.map(readScope) }),
    ...(body.models === undefined ? {} : { models: body.models }),
    ...(body.ip_cidrs === undefined ? {} : { ipCidrs: body.ip_cidrs }),
    ...(body.tags === undefined ? {} : { tags: body.tags }),
    ...toLimits(body.limits ?? {}),
  }
}

function toLimits({ brake, ...rest }: NonNullable<ChangeBody['limits']>): LimitsWish {
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
    refuse('invalid_request', {
      param: 'expires_at',
      message: 'Write the expiry as RFC 3339: 2027-01-31T00:00:00Z.',
    })
  )
}

function readScope(named: string): Scope {
  const found = scopes.find((scope) => scope === named)
  if (found) return found
  refuse('invalid_request', { param: 'scopes', message: `The scopes are: ${scopes.join(', ')}.` })
}
