/** Members and invitations as the API shows them. */
import { toRfc3339 } from '../../kernel/clock.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import type { InvitationRow, MemberRow } from '../../storage/db/schema/schema.ts'
import { toChecksumAddress } from '../../verify/address.ts'
import type { InvitationAnswer, MemberAnswer } from './shapes.ts'

export const toMemberView = (row: MemberRow): MemberAnswer => ({
  object: 'member',
  address: toChecksumAddress(row.wallet),
  name: row.name,
  role: row.role,
  branch_key_id: row.branch,
  invited_by: toChecksumAddress(row.invitedBy),
  created_at: toRfc3339(row.createdAt),
})

export const toInvitationView = (row: InvitationRow): InvitationAnswer => ({
  object: 'invitation',
  id: row.id,
  role: row.role,
  cap:
    row.capLimit === null || row.capWindow === null
      ? null
      : { limit_nusd: toJsonInteger(row.capLimit), window: row.capWindow },
  models: [...row.models],
  created_by: toChecksumAddress(row.createdBy),
  created_at: toRfc3339(row.createdAt),
  expires_at: toRfc3339(row.expiresAt),
})
