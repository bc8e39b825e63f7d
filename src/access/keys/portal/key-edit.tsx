/** The form that changes a key: all but its parent and its window. */
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { areWritable, errorOf, isOfField, toDraft } from './key-form.ts'
import type { DetailView } from './key-state.tsx'
import { RightsFields } from './rights.tsx'

const fields: FormFields = {
  name: { half: true, label: 'Name', maxlength: 64, required: true },
  cap: { half: true, label: 'Cap, USD', inputmode: 'decimal', required: true },
  expires_on: {
    half: true,
    type: 'date',
    label: 'Expires at the end of',
    hint: 'In UTC, at most 366 days from now.',
    required: true,
  },
}

export const EditPanel = ({ view: { shown, draft, refusal, brake } }: { view: DetailView }) => {
  const { key } = shown
  const sent = { draft: draft ?? toDraft(key), refusal }
  return (
    <FormPanel
      id="edit"
      title="Edit key"
      acts={`/api/portal/keys/${key.id}`}
      action={`/api/portal/keys/${key.id}`}
      target="#key"
      of={fields}
      sent={sent}
      errorOf={errorOf}
      what="Nothing was changed."
      isMarked={isOfField(refusal)}
      button="Save changes"
      look="go"
      beside={
        <small class="quiet">
          Keys below keep their settings. The lowest limit of a chain applies.
        </small>
      }
    >
      <RightsFields form="edit" sent={sent} brake={brake} withoutTags={!areWritable(key.tags)} />
    </FormPanel>
  )
}
