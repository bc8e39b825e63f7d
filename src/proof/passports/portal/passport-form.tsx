/** The forms to create and to edit a passport. */
import type { Refusal } from '../../../kernel/refusal.ts'
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, AreaField, CheckField, ChoiceField, TextField } from '../../../web/ui/form.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { kindWords, passportsAction } from './passport-state.tsx'
import { type Draft, errorOf } from './read-body.ts'

type FormView = { draft: Draft; refusal?: Refusal | undefined }

/** The form of a new passport: blank, or as it was sent with what is wrong. */
export const CreatePanel = ({ view: { draft, refusal } }: { view: FormView }) => (
  <Panel id="create" title="Create a passport" needs="passports:write">
    <ActionForm action={passportsAction} look="stack">
      {refusal ? <Refused refusal={refusal} what="Nothing was created." /> : null}
      <TextField
        form="create"
        name="handle"
        label="Handle"
        value={draft['handle'] ?? ''}
        error={errorOf(refusal, 'handle')}
        hint="3 to 30 of a–z, 0–9 and single hyphens. It stays yours and cannot be changed."
        placeholder="harbor-lab"
        maxlength={30}
        required
      />
      <ProfileFields form="create" draft={draft} refusal={refusal} />
      <div class="row">
        <Button look="go">Create passport</Button>
        <small class="quiet">Only you see it until you publish it.</small>
      </div>
    </ActionForm>
  </Panel>
)

type EditProps = { view: FormView; action: string }

/** What of a passport can be another: all but its handle. */
export const EditPanel = ({ view: { draft, refusal }, action }: EditProps) => (
  <Panel id="edit" title="Profile" needs="passports:write">
    <ActionForm action={action} target="#passport" look="stack">
      {refusal ? <Refused refusal={refusal} what="Nothing was changed." /> : null}
      <ProfileFields form="edit" draft={draft} refusal={refusal} />
      <div class="row">
        <Button look="go">Save changes</Button>
      </div>
    </ActionForm>
  </Panel>
)

type FieldsProps = FormView & { form: string }

const ProfileFields = ({ form, draft, refusal }: FieldsProps) => (
  <>
    <TextField
      form={form}
      name="display_name"
      label="Name"
      value={draft['display_name'] ?? ''}
      error={errorOf(refusal, 'display_name')}
      maxlength={64}
      required
    />
    <ChoiceField
      form={form}
      name="kind"
      label="Kind"
      value={draft['kind'] ?? 'agent'}
      options={Object.entries(kindWords).map(([value, label]) => ({ value, label }))}
    />
    <AreaField
      form={form}
      name="bio"
      label="Bio"
      value={draft['bio'] ?? ''}
      error={errorOf(refusal, 'bio')}
      hint="What it does, in at most 280 characters."
    />
    <AreaField
      form={form}
      name="links"
      label="Links"
      value={draft['links'] ?? ''}
      error={errorOf(refusal, 'links')}
      hint="Up to 5 https links, one per line."
      placeholder="https://example.com/"
      rows={2}
    />
    <input type="hidden" name="show_owner_from" value="form" />
    <CheckField
      form={form}
      name="show_owner"
      label="Show my wallet’s address on it"
      checked={draft['show_owner'] === 'true'}
    />
  </>
)

type RefusedProps = { refusal: Refusal; what: string }

/** The error above the fields that explain it; focused, so that screen readers announce it. */
const Refused = ({ refusal, what }: RefusedProps) => (
  <div tabindex="-1" autofocus>
    <ErrorNote
      what={what}
      charged={refusal.detail.param ? 'See the marked field below.' : refusal.message}
    />
  </div>
)
