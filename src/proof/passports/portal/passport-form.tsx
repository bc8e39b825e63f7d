/** The forms to create and to edit a passport. */
import { Button } from '../../../web/ui/button.tsx'
import {
  ActionForm,
  AreaField,
  CheckField,
  ChoiceField,
  fieldsOf,
  Refused,
  type SentForm,
  TextField,
} from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { kindWords, passportsAction } from './passport-state.tsx'

/** The form of a new passport: blank, or as it was sent with what is wrong. */
export const CreatePanel = ({ view }: { view: SentForm }) => (
  <Panel id="create" title="Create a passport" needs="passports:write">
    <ActionForm action={passportsAction} look="stack">
      <Refusal view={view} what="Nothing was created." />
      <TextField
        {...fieldsOf('create', view)('handle')}
        label="Handle"
        hint="3 to 30 of a–z, 0–9 and single hyphens. It stays yours and cannot be changed."
        placeholder="harbor-lab"
        maxlength={30}
        required
      />
      <ProfileFields form="create" view={view} />
      <div class="row">
        <Button look="go">Create passport</Button>
        <small class="quiet">Only you see it until you publish it.</small>
      </div>
    </ActionForm>
  </Panel>
)

type EditProps = { view: SentForm; action: string }

/** What of a passport can be another: all but its handle. */
export const EditPanel = ({ view, action }: EditProps) => (
  <Panel id="edit" title="Profile" needs="passports:write">
    <ActionForm action={action} target="#passport" look="stack">
      <Refusal view={view} what="Nothing was changed." />
      <ProfileFields form="edit" view={view} />
      <div class="row">
        <Button look="go">Save changes</Button>
      </div>
    </ActionForm>
  </Panel>
)

const ProfileFields = ({ form, view }: { form: string; view: SentForm }) => {
  const field = fieldsOf(form, view)
  return (
    <>
      <TextField {...field('display_name')} label="Name" maxlength={64} required />
      <ChoiceField
        {...field('kind')}
        label="Kind"
        value={view.draft['kind'] ?? 'agent'}
        options={Object.entries(kindWords).map(([value, label]) => ({ value, label }))}
      />
      <AreaField {...field('bio')} label="Bio" hint="What it does, in at most 280 characters." />
      <AreaField
        {...field('links')}
        label="Links"
        hint="Up to 5 https links, one per line."
        placeholder="https://example.com/"
        rows={2}
      />
      <input type="hidden" name="show_owner_from" value="form" />
      <CheckField
        form={form}
        name="show_owner"
        label="Show my wallet’s address on it"
        checked={view.draft['show_owner'] === 'true'}
      />
    </>
  )
}

type RefusalProps = { view: SentForm; what: string }

const Refusal = ({ view: { refusal }, what }: RefusalProps) => (
  <Refused refusal={refusal} what={what} isMarked={refusal?.detail.param !== undefined} />
)
