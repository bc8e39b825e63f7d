/** The optional fields of a key's forms: models, networks, scopes, limits, tags. */
import { toUsd } from '../../../kernel/money.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { AreaField, CheckField, fieldsOf, SelectField, TextField } from '../../../web/ui/form.tsx'
import type { BrakeProposal } from '../brake-proposal.ts'
import { defaultScopes, scopes } from '../key.ts'
import { everyLimit } from '../key-limits.ts'
import { errorOf } from './key-form.ts'

type RightsProps = {
  form: string
  draft: Draft
  refusal?: Refusal | undefined
  /** Of a key that has spent lately. */
  brake?: BrakeProposal | undefined
  /** Set if a tag cannot be written in the field. */
  withoutTags?: boolean
}

const names = [
  'models',
  'scopes',
  'ip_cidrs',
  'tags',
  ...everyLimit.map(([, { field }]) => field.name),
  'brake_per_minute',
  'brake_per_hour',
  'brake_running',
]

/** Folded unless one of the fields has an error. */
export const RightsFields = ({ form, draft, refusal, brake, withoutTags }: RightsProps) => {
  const field = fieldsOf(form, { draft, refusal }, errorOf)
  const isWrong = names.some((name) => errorOf(refusal, name) !== undefined)
  return (
    <details open={isWrong}>
      <summary>Models, scopes, limits and tags</summary>
      <div class="stack folded">
        <div class="grid2">
          <AreaField
            {...field('models')}
            label="Models"
            placeholder="acme/*"
            hint="One a line; acme/* stands for all of acme. Empty: all models of the parent."
            mono
          />
          <AreaField
            {...field('ip_cidrs')}
            label="Networks"
            placeholder="10.0.0.0/8"
            hint="Allowed addresses, one per line. Empty: any."
            mono
          />
        </div>
        <ScopeFields form={form} draft={draft} error={errorOf(refusal, 'scopes')} />
        <div class="grid2">
          {everyLimit.map(([, { field: of }]) => (
            <LimitField {...field(of.name)} of={of} />
          ))}
          <BrakeFields field={field} brake={brake} />
        </div>
        {withoutTags ? null : (
          <AreaField
            {...field('tags')}
            label="Tags"
            placeholder="team=search"
            hint="Up to 8, one per line. Usage can be grouped by them."
            mono
          />
        )}
      </div>
    </details>
  )
}

type Field = ReturnType<ReturnType<typeof fieldsOf>>

type LimitProps = Field & { of: (typeof everyLimit)[number][1]['field'] }

const LimitField = ({ of: { label, hint, inputmode, options }, ...field }: LimitProps) => {
  const words = { ...field, label, ...(hint && { hint }) }
  if (options) return <SelectField {...words} options={options} />
  return <TextField {...words} {...(inputmode && { inputmode })} />
}

type BrakeProps = { field: ReturnType<typeof fieldsOf>; brake: BrakeProposal | undefined }

const pauses = 'A run that would exceed it pauses the key.'

/** Without a history the proposal is a tenth of the cap a minute, typed as `10%`. */
const BrakeFields = ({ field, brake }: BrakeProps) => (
  <>
    <TextField
      {...field('brake_per_minute')}
      label="Brake, USD a minute"
      placeholder={brake ? toUsd(brake.minute) : '10%'}
      hint={
        brake
          ? `${pauses} Proposed: ${toUsd(brake.minute)}, ten times its average of the last week.`
          : `${pauses} Type 10% for a tenth of the cap: a start.`
      }
    />
    <TextField
      {...field('brake_per_hour')}
      label="Brake, USD an hour"
      inputmode="decimal"
      {...(brake ? { placeholder: toUsd(brake.hour) } : {})}
      hint={brake ? `Empty: none. Proposed: ${toUsd(brake.hour)}.` : 'Empty: none.'}
    />
    <SelectField
      {...field('brake_running')}
      label="When the brake is pulled"
      options={[
        { value: '', label: 'Open runs finish' },
        { value: 'stop', label: 'Open runs are stopped' },
      ]}
    />
  </>
)

type ScopeProps = { form: string; draft: Draft; error: string | undefined }

function ScopeFields({ form, draft, error }: ScopeProps) {
  const isAsked = Object.keys(draft).some((name) => name.startsWith('scope'))
  const isChecked = (scope: (typeof scopes)[number]) =>
    isAsked ? draft[`scope.${scope}`] !== undefined : defaultScopes.includes(scope)
  return (
    <fieldset class="field" aria-describedby={error ? `${form}-scopes-error` : undefined}>
      <legend>Scopes</legend>
      <input type="hidden" name="scopes_from" value="boxes" />
      <div class="grid2 boxes">
        {scopes.map((scope) => (
          <CheckField
            form={form}
            name={`scope.${scope}`}
            label={<code>{scope}</code>}
            checked={isChecked(scope)}
          />
        ))}
      </div>
      {error ? (
        <small class="err" id={`${form}-scopes-error`}>
          {error}
        </small>
      ) : null}
    </fieldset>
  )
}
