/** The form to invite a wallet. */
import { roles } from '../../../kernel/acting.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { Button } from '../../../web/ui/button.tsx'
import {
  ActionForm,
  AreaField,
  ChoiceField,
  SelectField,
  TextField,
} from '../../../web/ui/form.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { roleWords } from '../../../web/ui/switcher.tsx'
import { windowOptions } from '../../keys/portal/key-state.tsx'

type InviteProps = { draft: Readonly<Record<string, string>>; refusal: Refusal | undefined }

const fields = ['role', 'cap', 'window', 'models']

export const InvitePanel = ({ draft, refusal }: InviteProps) => {
  const param = refusal?.detail.param?.split('.')[0]
  const field = (name: string) => ({
    form: 'invite',
    name,
    ...(draft[name] === undefined ? {} : { value: draft[name] }),
    ...(refusal && param === name ? { error: refusal.message } : {}),
  })
  return (
    <Panel id="invite" title="Invite a member">
      <ActionForm action="/api/portal/members/invite" target="#main" swap="innerHTML" look="stack">
        {refusal ? (
          <div tabindex="-1" autofocus>
            <ErrorNote
              what="Nothing was created."
              charged={
                param && fields.includes(param) ? 'See the marked field below.' : refusal.message
              }
            />
          </div>
        ) : null}
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
