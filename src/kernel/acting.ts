/** The acting wallet of the dashboard, its account, and the rights of each role. */

import { utcZone, type ZoneName } from './zone.ts'

/** The roles of members; the own wallet of an account is always an owner. */
export const roles = ['owner', 'developer', 'billing', 'viewer'] as const
export type Role = (typeof roles)[number]

/**
 * Every right of the dashboard and the roles that have it. Each portal route names one; a developer
 * has those of keys, runs, receipts and usage in the own branch of keys alone.
 */
export const rights = {
  /** Rights of the person in any account: sessions, memberships, the switcher. */
  self: roles,
  'overview:read': ['owner', 'viewer'],
  'keys:read': ['owner', 'developer', 'viewer'],
  'keys:write': ['owner', 'developer'],
  'runs:read': ['owner', 'developer', 'viewer'],
  'runs:write': ['owner', 'developer'],
  'receipts:read': ['owner', 'developer', 'viewer'],
  'receipts:share': ['owner', 'developer'],
  /** Erasing deletes evidence that the account may need. */
  'receipts:erase': ['owner'],
  'usage:read': ['owner', 'developer', 'billing', 'viewer'],
  'statement:read': ['owner', 'billing', 'viewer'],
  'deposits:read': ['owner', 'billing', 'viewer'],
  'deposits:write': ['owner', 'billing'],
  'plans:read': ['owner', 'billing', 'viewer'],
  'plans:write': ['owner', 'billing'],
  'passports:read': ['owner', 'viewer'],
  'passports:write': ['owner'],
  'settings:read': ['owner', 'viewer'],
  'settings:write': ['owner'],
  /** Covers reading too, because the address of a chat is a secret. */
  'webhooks:write': ['owner'],
  'members:read': ['owner', 'viewer'],
  'members:write': ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Right = keyof typeof rights

export const isRight = (text: string): text is Right => Object.hasOwn(rights, text)

/** A wallet that signed in, and the account that its session acts for. */
export type Actor = {
  /** The wallet that acts; the audit names it. */
  wallet: string
  /** The account it acts for: its own, or one that made it a member. */
  account: string
  role: Role
  /** The id of its membership; undefined in its own account. */
  member?: string | undefined
  /** The top key of a developer's branch, the only keys the developer sees. */
  branch?: string | undefined
  /** The time zone that the person chose; absent for UTC. */
  zone?: ZoneName | undefined
}

/** The zone whose days and hours a person sees. */
export const zoneOf = ({ zone }: Pick<Actor, 'zone'>): ZoneName => zone ?? utcZone

/** Another account that a wallet is a member of. */
export type Membership = { account: string; role: Role }

/** An account, or one branch of its keys. */
export type KeyScope = Pick<Actor, 'account' | 'branch'>

/** A wallet in its own account. */
export const ownerOf = (wallet: string): Actor => ({ wallet, account: wallet, role: 'owner' })

export const may = ({ role }: Pick<Actor, 'role'>, right: Right): boolean =>
  (rights[right] as readonly Role[]).includes(role)

/** The scope of an Idempotency-Key: members never get answers of each other. */
export const whoOf = ({ member, account }: Actor): string => member ?? account

/** The page that a role starts at. */
export const homes: Readonly<Record<Role, string>> = {
  owner: '/dashboard',
  developer: '/dashboard/keys',
  billing: '/dashboard/statement',
  viewer: '/dashboard',
}
