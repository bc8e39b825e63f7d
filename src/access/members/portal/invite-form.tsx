/** The form to invite a wallet. */
import { roles } from '../../../kernel/acting.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { Button } from '../../../web/ui/button.tsx'
import {
  ActionForm,
  AreaField,
  ChoiceField,
  errorOf,
  fieldsOf,
  Refused,
  SelectField,
  TextField,
} from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { roleWords } from '../../../web/ui/switcher.tsx'
import { windowOptions } from '../../keys/portal/key-state.tsx'

type InviteProps = { draft: Readonly<Record<string, string>>; refusal: Refusal | undefined }

const fields = ['role', 'cap', 'window', 'models']

export const InvitePanel = ({ draft, refusal }: InviteProps) => {
  const field = fieldsOf('invite', { draft, refusal })
  return (
    <Panel id="invite" title="Invite a member">
      <ActionForm action="/api/portal/members/invite" target="#main" swap="innerHTML" look="stack">
        <Refused
          refusal={refusal}
          what="Nothing was created."
          isMarked={fields.some((name) => errorOf(refusal, name) !== undefined)}
        />
        <ChoiceField
          {...field('role')}
          label="Role"
          value={draft['role'] ?? 'developer'}
          options={roles.map((role) => ({ value: role, label: roleWords[role] }))}
        />
        <div class="grid2">
          <TextField
            {...field('cap')}
            label="Cap of a developer, USD"
            inputmode="decimal"
            placeholder="5.00"
            hint="All keys they create spend below it together."
          />
          <SelectField {...field('window')} label="The cap resets" options={windowOptions} />
        </div>
        <AreaField
          {...field('models')}
          label="Models of a developer"
          hint="One a line; acme/* stands for all of acme. Empty: every model."
          rows={2}
          mono
        />
        <div class="row">
          <Button look="go">Create invitation link</Button>
        </div>
      </ActionForm>
    </Panel>
  )
}
