/** The form to invite a wallet. */
import { roles } from '../../../kernel/acting.ts'
import type { SentForm } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { roleSentences, roleWords } from '../../../web/ui/switcher.tsx'
import { windowOptions } from '../../keys/portal/key-state.tsx'

const fields: FormFields = {
  role: {
    kind: 'choice',
    label: 'Role',
    initial: 'developer',
    options: roles.map((role) => ({
      value: role,
      label: `${roleWords[role]} ${roleSentences[role]}`,
    })),
  },
  cap: {
    half: true,
    label: 'Cap of a developer, USD',
    inputmode: 'decimal',
    placeholder: '5.00',
    hint: 'All keys they create spend below it together.',
  },
  window: { half: true, kind: 'select', label: 'The cap resets', options: windowOptions },
  models: {
    kind: 'area',
    label: 'Models of a developer',
    hint: 'One a line; acme/* stands for all of acme. Empty: every model.',
    rows: 2,
    mono: true,
  },
}

export const InvitePanel = ({ sent }: { sent: SentForm }) => (
  <FormPanel
    id="invite"
    title="Invite a member"
    action="/api/portal/members/invite"
    target="#main"
    swap="innerHTML"
    of={fields}
    sent={sent}
    what="Nothing was created."
    button="Create invitation link"
    look="go"
  />
)
