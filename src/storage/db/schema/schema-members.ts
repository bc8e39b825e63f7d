/** Tables of members: who else may act for an account, and who was invited to. */
import type { Role } from '../../../kernel/acting.ts'
import type { Columns } from './columns.ts'

export function memberTables(c: Columns) {
  /** A wallet that may act for the account of another one. Deleted when that ends. */
  const members = c.table(
    'members',
    {
      id: c.text('id').primaryKey(),
      accountId: c.text('account_id').notNull(),
      wallet: c.text('wallet').notNull(),
      role: c.text('role').$type<Role>().notNull(),
      /** The name that the account gave it, 1 to 40 characters; null without one. */
      name: c.text('name'),
      /** The key at the top of a developer's branch; null for other roles. */
      branch: c.text('branch'),
      /** The key that the console of a developer spends through; null until it was used. */
      consoleKeyId: c.text('console_key_id'),
      invitedBy: c.text('invited_by').notNull(),
      createdAt: c.ms('created_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('members_once').on(t.accountId, t.wallet),
      c.index('members_by_wallet').on(t.wallet, t.id),
    ],
  )

  /** A link that makes one wallet a member: the SHA-256 of its token. Deleted once it is used. */
  const invitations = c.table(
    'invitations',
    {
      id: c.text('id').primaryKey(),
      tokenHash: c.text('token_hash').notNull(),
      accountId: c.text('account_id').notNull(),
      role: c.text('role').$type<Role>().notNull(),
      /** The cap and models of a developer's branch; null for other roles. */
      capLimit: c.money('cap_limit'),
      capWindow: c.text('cap_window').$type<'lifetime' | 'day' | 'week' | 'month'>(),
      models: c.json<string[]>('models').notNull(),
      createdBy: c.text('created_by').notNull(),
      createdAt: c.ms('created_at').notNull(),
      expiresAt: c.ms('expires_at').notNull(),
    },
    (t) => [
      c.uniqueIndex('invitations_by_token').on(t.tokenHash),
      c.index('invitations_by_account').on(t.accountId, t.id),
    ],
  )

  return { members, invitations }
}
