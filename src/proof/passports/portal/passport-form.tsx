/** The forms to create and to edit a passport. */
import type { SentForm } from '../../../web/ui/form.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { kindWords, passportsAction } from './passport-state.tsx'

const profile: FormFields = {
  display_name: { label: 'Name', maxlength: 64, required: true },
  kind: {
    kind: 'choice',
    label: 'Kind',
    initial: 'agent',
    options: Object.entries(kindWords).map(([value, label]) => ({ value, label })),
  },
  bio: { kind: 'area', label: 'Bio', hint: 'What it does, in at most 280 characters.' },
  links: {
    kind: 'area',
    label: 'Links',
    hint: 'Up to 5 https links, one per line.',
    placeholder: 'https://example.com/',
    rows: 2,
  },
  show_owner_from: { kind: 'hidden', value: 'form' },
  show_owner: { kind: 'check', label: 'Show my wallet’s address on it' },
}

const whole: FormFields = {
  handle: {
    label: 'Handle',
    hint: '3 to 30 of a–z, 0–9 and single hyphens. It stays yours and cannot be changed.',
    placeholder: 'harbor-lab',
    maxlength: 30,
    required: true,
  },
  ...profile,
}

/** The form of a new passport: blank, or as it was sent with what is wrong. */
export const CreatePanel = ({ view }: { view: SentForm }) => (
  <FormPanel
    id="create"
    title="Create a passport"
    needs="passports:write"
    action={passportsAction}
    of={whole}
    sent={view}
    what="Nothing was created."
    button="Create passport"
    look="go"
    beside={<small class="quiet">Only you see it until you publish it.</small>}
  />
)

type EditProps = { view: SentForm; action: string }

/** Edits everything but the handle, which never changes. */
export const EditPanel = ({ view, action }: EditProps) => (
  <FormPanel
    id="edit"
    title="Profile"
    needs="passports:write"
    action={action}
    target="#passport"
    of={profile}
    sent={view}
    what="Nothing was changed."
    button="Save changes"
    look="go"
  />
)
