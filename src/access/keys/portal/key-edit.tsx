/** The form that changes a key: all but its parent and its window. */
import { Button } from '../../../web/ui/button.tsx'
import { ActionForm, TextField } from '../../../web/ui/form.tsx'
import { Panel } from '../../../web/ui/panel.tsx'
import { Refused } from './create-form.tsx'
import { areWritable, errorOf, toDraft } from './key-form.ts'
import type { DetailView } from './key-state.tsx'
import { RightsFields } from './rights.tsx'

const form = 'edit'

export const EditPanel = ({ view: { shown, draft, refusal, brake } }: { view: DetailView }) => {
  const { key } = shown
  const values = draft ?? toDraft(key)
  const field = (name: string) => ({
    form,
    name,
    ...(values[name] === undefined ? {} : { value: values[name] }),
    ...(errorOf(refusal, name) ? { error: errorOf(refusal, name) } : {}),
  })
  return (
    <Panel id="edit" title="Edit key" acts={`/api/portal/keys/${key.id}`}>
      <ActionForm action={`/api/portal/keys/${key.id}`} target="#key" look="stack">
        {refusal ? <Refused refusal={refusal} what="Nothing was changed." /> : null}
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
