/** Checks each field of a new or changed key: fixed ranges, and no more than its parent has. */
import type { Millis } from '../../kernel/clock.ts'
import { maxNusd, type Nusd } from '../../kernel/money.ts'
import { covers, parseBlock } from '../../kernel/network-block.ts'
import { refuse } from '../../kernel/refusal.ts'
import type { KeyRow } from '../../storage/db/schema/schema.ts'
import { defaultLifeMs, defaultScopes, matches, maxLifeMs, type Scope, scopes } from './key.ts'

/** Each rule returns the value to store, or refuses with `invalid_request` and the field's name. */

/** Entries of `models` and of `ip_cidrs`. */
const maxEntries = 64
const maxGlobChars = 200
const maxTags = 8
const control = /\p{Cc}/u

export function boundName(name: string): string {
  if (name.length < 1 || name.length > 64 || control.test(name)) {
    no('name', 'Send a name of 1 to 64 characters without control characters.')
  }
  return name
}

export function boundCap(limit: Nusd, parent: KeyRow | undefined): Nusd {
  if (limit < 1n || limit > maxNusd) {
    no('cap.limit_nusd', 'Send a cap of 1 to 9,000,000,000,000,000 nano-USD.')
  }
  if (parent && limit > parent.capLimit) {
    no('cap.limit_nusd', `A child's cap is at most its parent's, ${parent.capLimit} nano-USD.`)
  }
  return limit
}

/** Defaults to 90 days from now or the parent's expiry, whichever is earlier. */
export function boundExpiry(
  wished: Millis | undefined,
  parent: KeyRow | undefined,
  now: Millis,
): Millis {
  const latest = Math.min(now + maxLifeMs, parent?.expiresAt ?? Number.POSITIVE_INFINITY)
  const expiresAt = wished ?? Math.min(now + defaultLifeMs, latest)
  if (!(expiresAt > now)) no('expires_at', 'Send an expiry in the future.')
  if (expiresAt > latest) {
    no('expires_at', 'An expiry is at most 366 days away and not after the parent’s.')
  }
  return expiresAt
}

/** Defaults to the default scopes that the parent has. */
export function boundScopes(
  wished: readonly string[] | undefined,
  parent: KeyRow | undefined,
): Scope[] {
  const named = wished ?? defaultScopes.filter((scope) => parent?.scopes.includes(scope) ?? true)
  if (!named.every((one) => scopes.some((scope) => scope === one))) {
    no('scopes', `The scopes are: ${scopes.join(', ')}.`)
  }
  if (parent && !named.every((one) => parent.scopes.includes(one))) {
    no('scopes', `A child's scopes are among its parent's: ${parent.scopes.join(', ')}.`)
  }
  return scopes.filter((scope) => named.includes(scope))
}

/** Empty means the parent's models: all of them only if the parent has all. */
export function boundModels(
  wished: readonly string[] | undefined,
  parent: KeyRow | undefined,
): string[] {
  const above = parent?.models ?? []
  const models = wished?.length ? [...new Set(wished)] : above
  if (models.length > maxEntries || !models.every(isGlob)) {
    no('models', `At most ${maxEntries} models, each an id or a glob such as acme/*.`)
  }
  if (above.length && !models.every((model) => above.some((glob) => matches(glob, model)))) {
    no('models', `A child's models are among its parent's: ${above.join(', ')}.`)
  }
  return [...models]
}

const isGlob = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && text.length <= maxGlobChars

/** Empty means the parent's networks: every address only if the parent has every one. */
export function boundNetworks(
  wished: readonly string[] | undefined,
  parent: KeyRow | undefined,
): string[] {
  const above = parent?.ipCidrs ?? []
  const networks = wished?.length ? [...new Set(wished)] : above
  const blocks = networks.flatMap((entry) => parseBlock(entry) ?? [])
  if (networks.length > maxEntries || blocks.length < networks.length) {
    no('ip_cidrs', `At most ${maxEntries} addresses or networks such as 10.0.0.0/8.`)
  }
  const outer = above.flatMap((entry) => parseBlock(entry) ?? [])
  if (above.length && !blocks.every((block) => outer.some((one) => covers(one, block)))) {
    no('ip_cidrs', `A child's networks are within its parent's: ${above.join(', ')}.`)
  }
  return [...networks]
}

export function boundTags(tags: Record<string, string> = {}): Record<string, string> {
  const entries = Object.entries(tags)
  if (entries.length > maxTags) no('tags', `A key has at most ${maxTags} tags.`)
  for (const [name, value] of entries) {
    if (name.length < 1 || name.length > 64 || value.length > 256 || control.test(name + value)) {
      no('tags', 'A tag has a name of 1 to 64 characters and a value of at most 256.')
    }
  }
  return tags
}

/** The settings of a key that are not limits, by column: the member of a body and its check. */
const keyRights = {
  name: { member: 'name', bound: boundName },
  capLimit: { member: 'cap.limit_nusd', bound: boundCap },
  expiresAt: { member: 'expires_at', bound: boundExpiry },
  scopes: { member: 'scopes', bound: boundScopes },
  models: { member: 'models', bound: boundModels },
  ipCidrs: { member: 'ip_cidrs', bound: boundNetworks },
  tags: { member: 'tags', bound: boundTags },
} as const

type Column = keyof typeof keyRights
export type Rights = Pick<KeyRow, Column>
/** Rights that are given; the others are not named. */
export type RightsChange = { [C in Column]?: Rights[C] | undefined }

type Bound = (wished: unknown, parent: KeyRow | undefined, now: Millis) => unknown
export const everyRight = Object.entries(keyRights) as [Column, { member: string; bound: Bound }][]

/**
 * The rights of a key: those of `before` that `wish` does not name, or the default of a new key.
 * @throws Refusal `invalid_request` with `param`
 */
export const withRights = (
  before: Rights | undefined,
  wish: RightsChange,
  parent: KeyRow | undefined,
  now: Millis,
): Rights =>
  Object.fromEntries(
    everyRight.map(([column, { bound }]) => {
      const isKept = before !== undefined && wish[column] === undefined
      return [column, isKept ? before[column] : bound(wish[column], parent, now)]
    }),
  ) as Rights

const no = (param: string, message: string): never => refuse('invalid_request', { param, message })
