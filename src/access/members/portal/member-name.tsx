/** The question for the name of a member. */
import type { Refusal } from '../../../kernel/refusal.ts'
import type { MemberRow } from '../../../storage/db/schema/schema.ts'
import { Address } from '../../../web/ui/address.tsx'
import type { ConfirmProps } from '../../../web/ui/confirm.tsx'
import { TextField } from '../../../web/ui/form.tsx'
import { nameMax } from '../member-name.ts'
import { membersPath } from './member-list.tsx'

type Named = Pick<MemberRow, 'wallet' | 'name'>

export const askName = ({ wallet, name }: Named, refusal?: Refusal): ConfirmProps => ({
  id: 'name',
  title: 'Name this member',
  consequence: (
    <>
      The name stands beside <Address value={wallet} /> in this account.
    </>
  ),
  action: `/api/portal/members/${wallet}/name`,
  fields: (
    <TextField
      form="name"
      name="name"
      label="Name"
      value={name ?? ''}
      maxlength={nameMax}
      hint="Empty: the address alone."
      autofocus
    />
  ),
  refusal,
  button: 'Save the name',
  look: 'go',
  keep: 'Cancel',
  keepHref: membersPath,
})
