import type { Refusal } from '../../../kernel/refusal.ts'
import { AreaField, CheckField, TextField } from '../../../web/ui/form.tsx'
import { defaultScopes, scopes } from '../key.ts'
import { type Draft, errorOf } from './key-form.ts'

type RightsProps = {
  form: string
  draft: Draft
  refusal?: Refusal | undefined
  /** Left out where a tag could not be written as it is. */
  withoutTags?: boolean
}

const names = ['models', 'scopes', 'ip_cidrs', 'tags', 'rpm', 'concurrency', 'max_cost_per_run']

/** What a key may do, for whoever wants to say it: folded unless something in it is wrong. */
export const RightsFields = ({ form, draft, refusal, withoutTags }: RightsProps) => {
  const field = (name: string) => ({
    form,
    name,
    ...(draft[name] === undefined ? {} : { value: draft[name] }),
    ...(errorOf(refusal, name) ? { error: errorOf(refusal, name) } : {}),
  })
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
            hint="Ids or globs, one a line. Empty: all that its parent may use."
            mono
          />
          <AreaField
            {...field('ip_cidrs')}
            label="Networks"
            placeholder="10.0.0.0/8"
            hint="Where it may be used from, one a line. Empty: anywhere."
            mono
          />
        </div>
        <ScopeFields form={form} draft={draft} error={errorOf(refusal, 'scopes')} />
        <div class="grid2">
          <TextField
            {...field('rpm')}
            label="Requests a minute"
            inputmode="numeric"
            hint="Empty: no limit of its own."
          />
          <TextField {...field('concurrency')} label="Runs at once" inputmode="numeric" />
          <TextField
            {...field('max_cost_per_run')}
            label="Most a run may cost, USD"
            inputmode="decimal"
          />
        </div>
        {withoutTags ? null : (
          <AreaField
            {...field('tags')}
            label="Tags"
            placeholder="team=search"
            hint="Up to 8, one a line. Runs carry them, and usage is summed up by them."
            mono
          />
        )}
      </div>
    </details>
  )
}

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
