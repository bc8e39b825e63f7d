/** Who acts in the dashboard, for which account, and what each role may do there. */

/** What a member may be in an account; its own wallet is always an owner. */
export const roles = ['owner', 'developer', 'billing', 'viewer'] as const
export type Role = (typeof roles)[number]

/**
 * Every right of the dashboard and the roles that have it. Each portal route names one; a developer
 * has those of keys, runs, receipts and usage in the own branch of keys alone.
 */
export const rights = {
  /** What concerns the person, in whichever account: sessions, memberships, the switcher. */
  self: roles,
  'overview:read': ['owner', 'viewer'],
  'keys:read': ['owner', 'developer', 'viewer'],
  'keys:write': ['owner', 'developer'],
  'runs:read': ['owner', 'developer', 'viewer'],
  'runs:write': ['owner', 'developer'],
  'receipts:read': ['owner', 'developer', 'viewer'],
  'receipts:share': ['owner', 'developer'],
  /** Erasing deletes what the account may need as evidence. */
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
  /** Reading them too: the address of a chat is a secret. */
  'webhooks:write': ['owner'],
  'members:read': ['owner', 'viewer'],
  'members:write': ['owner'],
} as const satisfies Record<string, readonly Role[]>

export type Right = keyof typeof rights

export const isRight = (text: string): text is Right => Object.hasOwn(rights, text)

/** A wallet that signed in, and the account that its session acts for. */
export type Acting = {
  /** Who does it: the audit names this wallet. */
  wallet: string
  /** For whom: the wallet itself unless another account made it a member. */
  account: string
  role: Role
  /** The membership that it acts by; undefined in its own account. */
  member?: string | undefined
  /** The key at the top of a developer's branch, beyond which nothing is seen. */
  branch?: string | undefined
}

/** Another account that a wallet is a member of. */
export type Membership = { account: string; role: Role }

/** What an account has, or what hangs below one key of it. */
export type Whose = Pick<Acting, 'account' | 'branch'>

/** A wallet in its own account. */
export const ownerOf = (wallet: string): Acting => ({ wallet, account: wallet, role: 'owner' })

export const may = ({ role }: Pick<Acting, 'role'>, right: Right): boolean =>
  (rights[right] as readonly Role[]).includes(role)

/** Whose calls an Idempotency-Key tells apart: members never see answers of each other. */
export const whoOf = ({ member, account }: Acting): string => member ?? account

/** The page that a role starts at. */
export const homes: Readonly<Record<Role, string>> = {
  owner: '/dashboard',
  developer: '/dashboard/keys',
  billing: '/dashboard/statement',
  viewer: '/dashboard',
}
