/** The form that changes a key: all but its parent and its window. */
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, fieldsOf, Refused, TextField } from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { areWritable, errorOf, isOfField, toDraft } from './key-form.ts'
import type { DetailView } from './key-state.tsx'
import { RightsFields } from './rights.tsx'

const form = 'edit'

export const EditPanel = ({ view: { shown, draft, refusal, brake } }: { view: DetailView }) => {
  const { key } = shown
  const values = draft ?? toDraft(key)
  const field = fieldsOf(form, { draft: values, refusal }, errorOf)
  return (
    <Panel id="edit" title="Edit key" acts={`/api/portal/keys/${key.id}`}>
      <ActionForm action={`/api/portal/keys/${key.id}`} target="#key" look="stack">
        <Refused refusal={refusal} what="Nothing was changed." isMarked={isOfField(refusal)} />
        <div class="grid2">
          <TextField {...field('name')} label="Name" maxlength={64} required />
          <TextField {...field('cap')} label="Cap, USD" inputmode="decimal" required />
          <TextField
            {...field('expires_on')}
            type="date"
            label="Expires at the end of"
            hint="In UTC, at most 366 days from now."
            required
          />
        </div>
        <RightsFields
          form={form}
          draft={values}
          refusal={refusal}
          brake={brake}
          withoutTags={!areWritable(key.tags)}
        />
        <p class="row">
          <Button look="go">Save changes</Button>
          <small class="quiet">
            Keys below keep their settings. The lowest limit of a chain applies.
          </small>
        </p>
      </ActionForm>
    </Panel>
  )
}
