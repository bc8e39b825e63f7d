/** Types of the entries of the reference, and the refusals that follow from them. */
import type { Json } from '../../kernel/canonical.ts'
import type { RefusalType } from '../../kernel/refusal.ts'
import type { Schema } from '../http/json-schema.ts'

/** One route as the reference describes it, to programs and to people. */
export type Operation<S = Schema> = {
  /** Also its anchor in the pages. */
  id: string
  /** As the service routes it: `POST /v1/keys/:id/pause`. */
  route: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`
  title: string
  about: string
  access: Access
  path?: Readonly<Record<string, S>>
  query?: Readonly<Record<string, S>>
  /** `form` describes the same as a form, where the route takes one. */
  body?: { schema: S; form?: S; isOptional?: true }
  /** Whether it takes an Idempotency-Key. */
  isIdempotent?: true
  /** Requests that work as they stand, once the sample ids are one's own. */
  examples: readonly Example[]
  answers: readonly Answer<S>[]
  /** Refusals beyond those that follow from its key, its query and its body. */
  refuses?: readonly RefusalType[]
}

/**
 * The access that a caller needs. `none`: nothing. `optional`: an owner's key shows more. `any`:
 * every usable key. `session`: the cookie of a signed-in wallet. `admin`: that of an operator's
 * wallet. Others name a scope of keys, or, after `operator `, one of the operator API.
 */
export type Access =
  | 'none'
  | 'optional'
  | 'any'
  | 'also-paused'
  | 'session'
  | 'admin'
  | `${string}:${string}`

const accessTexts: Readonly<Record<string, string>> = {
  none: 'No key',
  optional: 'No key, or its owner’s',
  any: 'Any key',
  'also-paused': 'Any key, also paused',
  session: 'Session',
  admin: 'Operator’s session',
}

/** The access in words; of a scope its name. */
export const accessOf = ({ access }: Operation): string =>
  accessTexts[access] ?? access.replace(/^operator /, 'Operator token, ')

export type Example = {
  name: string
  path?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: Json
  /** The fields of a form, sent in place of a JSON body. */
  form?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  status: number
}

export type Answer<S = Schema> = {
  status: number
  about: string
  headers?: Readonly<Record<string, S>>
  /** By media type. Formats other than JSON have a sample beside it. */
  content: Readonly<Record<string, { schema: S; sample?: string }>>
}

export type Group = 'programs' | 'dashboard'

/** A part of the reference: its operations and the schemas they bring. */
export type Area<S = Schema> = {
  /** Its page: `/docs/keys`. */
  id: string
  title: string
  about: string
  /** Which half of the reference it stands in: what keys call, or what the dashboard calls. */
  group: Group
  operations: readonly Operation<S>[]
  schemas: Readonly<Record<string, S>>
}

export const methodOf = ({ route }: Operation): string => route.slice(0, route.indexOf(' '))
export const pathOf = ({ route }: Operation): string => route.slice(route.indexOf(' ') + 1)

export const isKeyed = (operation: Operation): boolean =>
  !isOperated(operation) && !['none', 'optional', 'session', 'admin'].includes(operation.access)

/** Whether it takes a token of the operator API. */
export const isOperated = ({ access }: Operation): boolean => access.startsWith('operator ')

export const hasSession = ({ access }: Operation): boolean =>
  access === 'session' || access === 'admin'

/** Whether the route belongs to browsers: it refuses other origins and may answer in HTML. */
export const isForBrowsers = (operation: Operation): boolean =>
  pathOf(operation).startsWith('/api/')

/** Refusals of a route beside those of every route: see {@link anywhere}. */
export function refusalsOf(operation: Operation): RefusalType[] {
  const { query, body, isIdempotent, refuses = [] } = operation
  const found: RefusalType[] = []
  if (query || body || isIdempotent) found.push('invalid_request')
  found.push(...accessRefusals(operation))
  if (isIdempotent) found.push('idempotency_in_progress')
  if (body) found.push('payload_too_large', 'unsupported_media_type')
  if (isIdempotent) found.push('idempotency_mismatch')
  if (isKeyed(operation) || isOperated(operation)) found.push('rate_limited')
  return [...new Set([...found, ...refuses])]
}

/** Refusals of a caller without the right access. */
function accessRefusals(operation: Operation): RefusalType[] {
  const { access } = operation
  const found: RefusalType[] = []
  if (isForBrowsers(operation) && methodOf(operation) !== 'GET') found.push('csrf_failed')
  if (access === 'session') found.push('session_required', 'role_denied', 'account_suspended')
  if (access === 'admin') found.push('session_required', 'not_found')
  if (isOperated(operation)) return ['invalid_key', 'key_revoked', 'key_expired', 'scope_denied']
  if (!isKeyed(operation)) return found
  found.push('invalid_key', 'key_revoked', 'key_expired')
  if (access !== 'also-paused') found.push('key_paused')
  if (access.includes(':')) found.push('scope_denied')
  return [...found, 'ip_not_allowed', 'account_suspended']
}

/**
 * Refusals of every route: a Host that is not ours, storage that takes or gives nothing,
 * and a fault of ours.
 */
export const anywhere = [
  'misdirected_request',
  'unavailable',
  'internal_error',
] as const satisfies RefusalType[]
