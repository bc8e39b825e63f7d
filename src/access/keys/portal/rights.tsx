/** The optional fields of a key's forms: models, networks, scopes, limits, tags. */
import { toUsd } from '../../../kernel/money.ts'
import type { Draft } from '../../../web/http/fields.ts'
import type { SentForm } from '../../../web/ui/form.tsx'
import { Fields, type FormFields, isMarked } from '../../../web/ui/form-panel.tsx'
import type { BrakeProposal } from '../brake-proposal.ts'
import { defaultScopes, type Scope, scopes } from '../key.ts'
import { everyLimit } from '../key-limits.ts'
import { errorOf } from './key-form.ts'

type RightsProps = {
  form: string
  sent: SentForm
  /** A brake to propose, from the key's recent spending. */
  brake?: BrakeProposal | undefined
  /** Set if a tag cannot be written in the field. */
  withoutTags?: boolean
}

/** Folded unless one of the fields has an error. */
export function RightsFields({ form, sent, brake, withoutTags }: RightsProps) {
  const { tags, ...rest } = { ...rights, ...brakeFields(brake) }
  const of = withoutTags ? rest : { ...rest, tags }
  const shown = { ...sent, draft: withScopes(sent.draft) }
  return (
    <details open={isMarked({ ...of, tags }, sent.refusal, errorOf)}>
      <summary>Models, scopes, limits and tags</summary>
      <div class="stack folded">
        <Fields of={of} form={form} sent={shown} errorOf={errorOf} />
      </div>
    </details>
  )
}

/** The use of each scope. */
const scopeSentences: Readonly<Record<Scope, string>> = {
  'runs:write': 'runs models',
  'runs:read': 'reads its runs',
  'usage:read': 'reads usage and budget',
  'receipts:read': 'reads and proves receipts',
  'receipts:share': 'makes receipts public',
  'keys:mint': 'makes keys below itself',
  'keys:read': 'lists the keys below itself',
  'webhooks:write': 'changes webhooks',
}

const rights = {
  models: {
    half: true,
    kind: 'area',
    label: 'Models',
    placeholder: 'acme/*',
    hint: 'One a line; acme/* stands for all of acme. Empty: all models of the parent.',
    mono: true,
  },
  ip_cidrs: {
    half: true,
    kind: 'area',
    label: 'Networks',
    placeholder: '10.0.0.0/8',
    hint: 'Allowed addresses, one per line. Empty: any.',
    mono: true,
  },
  scopes: {
    kind: 'boxes',
    label: 'Scopes',
    marker: 'scopes_from',
    boxes: Object.fromEntries(
      scopes.map((scope) => [
        `scope.${scope}`,
        {
          label: (
            <>
              <code>{scope}</code> {scopeSentences[scope]}
            </>
          ),
        },
      ]),
    ),
  },
  tags: {
    kind: 'area',
    label: 'Tags',
    placeholder: 'team=search',
    hint: 'Up to 8, one per line. Usage can be grouped by them.',
    mono: true,
  },
  ...Object.fromEntries(
    everyLimit.map(([, { field }]) => {
      const { name, label, hint, inputmode, options } = field
      const words = { half: true, label, ...(hint && { hint }) }
      const kind = options
        ? { kind: 'select' as const, options }
        : { ...(inputmode && { inputmode }) }
      return [name, { ...words, ...kind }]
    }),
  ),
} satisfies FormFields

const pauses = 'A run that would exceed it pauses the key.'

/** Without a history the proposal is a tenth of the cap a minute, typed as `10%`. */
const brakeFields = (brake: BrakeProposal | undefined): FormFields => ({
  brake_per_minute: {
    half: true,
    label: 'Brake, USD a minute',
    placeholder: brake ? toUsd(brake.minute) : '10%',
    hint: brake
      ? `${pauses} Proposed: ${toUsd(brake.minute)}, ten times its average of the last week.`
      : `${pauses} Type 10% for a tenth of the cap: a start.`,
  },
  brake_per_hour: {
    half: true,
    label: 'Brake, USD an hour',
    inputmode: 'decimal',
    ...(brake ? { placeholder: toUsd(brake.hour) } : {}),
    hint: brake ? `Empty: none. Proposed: ${toUsd(brake.hour)}.` : 'Empty: none.',
  },
  brake_running: {
    half: true,
    kind: 'select',
    label: 'When the brake is pulled',
    options: [
      { value: '', label: 'Open runs finish' },
      { value: 'stop', label: 'Open runs are stopped' },
    ],
  },
})

/** A form that names no scope yet has the default ones. */
const withScopes = (draft: Draft): Draft =>
  Object.keys(draft).some((name) => name.startsWith('scope'))
    ? draft
    : { ...Object.fromEntries(defaultScopes.map((scope) => [`scope.${scope}`, 'true'])), ...draft }
