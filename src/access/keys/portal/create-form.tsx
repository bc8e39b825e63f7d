/** The form of a new key. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { amountText } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { type FormFields, FormPanel } from '../../../web/ui/form-panel.tsx'
import { PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { depthOf, maxDepth, statusOf } from '../key.ts'
import type { ShownKey } from '../shown-key.ts'
import { errorOf, isOfField } from './key-form.ts'
import { keysPath, usedOf, windowOptions } from './key-state.tsx'
import { RightsFields } from './rights.tsx'

/** The form, blank or as sent with its error. */
export type CreateView = {
  now: Millis
  draft: Draft
  /** The keys that may become its parent. */
  parents: readonly ShownKey[]
  /** The top of a developer's branch: every key of it has a parent. */
  branch?: string | undefined
  /** The token of the form: sent twice, it creates one key. */
  once: string
  refusal?: Refusal | undefined
}

/** The page of the form, with the rules beside it. */
export const NewKeyPage = ({ view }: { view: CreateView }) => (
  <>
    <nav class="path" aria-label="Above this page">
      <a href={keysPath}>Keys</a>
    </nav>
    <PageHead title="New key">
      <p class="quiet">One capped key per agent. A child key stops when its parent is revoked.</p>
    </PageHead>
    <Split>
      <CreatePanel view={view} />
      <Rules />
    </Split>
  </>
)

const Rules = () => (
  <Panel id="rules" title="What a key can do">
    <ul class="pad stack rules">
      <li>
        A run counts against its key, every key above it and your balance. Each needs room for it.
      </li>
      <li>A cap resets at 00:00 UTC: every day, on Monday, or on the 1st of the month.</li>
      <li>Pausing or revoking a key stops every key below it as well.</li>
      <li>Your plan limits how many keys can be in use and how deep they nest.</li>
    </ul>
  </Panel>
)

const CreatePanel = ({ view }: { view: CreateView }) => (
  <FormPanel
    id="create"
    title="Create a key"
    needs="keys:write"
    action="/api/portal/keys"
    target="#main"
    swap="innerHTML"
    of={fieldsFor(view)}
    sent={view}
    errorOf={errorOf}
    what="Nothing was created."
    isMarked={isOfField(view.refusal)}
    button="Create key"
    look="go"
    beside={
      <>
        <ButtonLink look="plain" href={keysPath}>
          Cancel
        </ButtonLink>
        <span class="htmx-indicator quiet">Creating…</span>
      </>
    }
  >
    <RightsFields form="create" sent={view} />
  </FormPanel>
)

const fieldsFor = (view: CreateView): FormFields => ({
  once: { kind: 'hidden', value: view.once },
  name: {
    half: true,
    label: 'Name',
    hint: 'Only you see it.',
    maxlength: 64,
    required: true,
    autofocus: view.refusal === undefined,
  },
  parent_id: {
    half: true,
    kind: 'select',
    ...(view.branch && { initial: view.branch }),
    label: 'Parent',
    hint: 'A child can never outlive or outspend its parent.',
    options: parentOptions(view),
  },
  cap: {
    half: true,
    label: 'Cap, USD',
    inputmode: 'decimal',
    placeholder: '5.00',
    required: true,
  },
  window: { half: true, kind: 'select', label: 'The cap resets', options: windowOptions },
  expires: {
    half: true,
    kind: 'choice',
    label: 'Expires in',
    options: [
      { value: '1d', label: '1 day' },
      { value: '30d', label: '30 days' },
      { value: '', label: '90 days' },
      { value: '365d', label: '1 year' },
    ],
  },
  expires_on: {
    half: true,
    type: 'date',
    label: 'Or after this day',
    hint: 'Replaces the choice of days.',
  },
})

function parentOptions({ parents, now, branch }: CreateView) {
  const fit = parents.filter(
    ({ key, chain }) => depthOf(key) < maxDepth && statusOf(chain, now) === 'usable',
  )
  return [
    ...(branch === undefined ? [{ value: '', label: 'None' }] : []),
    ...fit.map((shown) => {
      const left = amountText(shown.key.capLimit - usedOf(shown))
      return { value: shown.key.id, label: `${shown.key.name}, ${left} left` }
    }),
  ]
}
