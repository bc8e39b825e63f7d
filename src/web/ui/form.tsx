/** Forms and their fields. */
import type { Refusal } from '../../kernel/refusal.ts'
import type { Draft } from '../http/fields.ts'
import type { Child, Markup } from './jsx-runtime.ts'
import { ErrorNote } from './notice.tsx'

export type ActionProps = {
  /** The portal route that does it. */
  action: string
  /** What the answer replaces: `#keys`. Without it the form is a plain one, also with scripts. */
  target?: string
  /** `outerHTML` unless said. */
  swap?: 'outerHTML' | 'innerHTML' | 'beforeend' | 'outerMorph' | 'innerMorph' | 'none'
  /** Asked by the browser before it is sent; without script a confirm page has to ask. */
  confirm?: string
  /** The events that send it, if not submit alone: `change, submit`. */
  trigger?: string
  /** `row` stands in a line, `stack` below each other inside of a panel. */
  look?: 'row' | 'stack'
  children: Child
}

/** A form that changes something: with htmx in place, without it by a whole page. */
export const ActionForm = ({
  action,
  target,
  swap,
  confirm,
  trigger,
  look,
  children,
}: ActionProps) => (
  <form
    class={look === 'stack' ? 'pad stack' : 'row'}
    method="post"
    action={action}
    hx-post={target && action}
    hx-target={target}
    hx-swap={target && (swap ?? 'outerHTML')}
    hx-disable={target && 'find button'}
    hx-confirm={confirm}
    hx-trigger={trigger}
  >
    {children}
  </form>
)

/** A form as it was sent, and why it was refused. */
export type SentForm = { draft: Draft; refusal?: Refusal | undefined }

export type ErrorOf = (refusal: Refusal | undefined, name: string) => string | undefined

/** The error of the field that a refusal names. */
export const errorOf: ErrorOf = (refusal, name) =>
  refusal?.detail.param?.split('.')[0] === name ? refusal.message : undefined

/** The error of the only field of a form, whatever the refusal names. */
export const soleError: ErrorOf = (refusal) => refusal?.message

/** Fills the fields of a form as it was sent, each with its error. */
export const fieldsOf =
  (form: string, { draft, refusal }: SentForm, of = errorOf) =>
  (name: string) => ({ form, name, value: draft[name] ?? '', error: of(refusal, name) })

type RefusedProps = {
  refusal: Refusal | undefined
  /** "Nothing was created." */
  what: string
  /** Whether a field of the form shows what is wrong. */
  isMarked: boolean
}

/** The error above the form; it takes the focus, so that screen readers announce it. */
export const Refused = ({ refusal, what, isMarked }: RefusedProps) =>
  refusal ? (
    <div tabindex="-1" autofocus>
      <ErrorNote what={what} charged={isMarked ? 'See the marked field below.' : refusal.message} />
    </div>
  ) : null

export type FieldProps = {
  /** What the form sends it as. */
  name: string
  label: Child
  /** Tells the fields of several forms on a page apart; the id is `<form>-<name>`. */
  form?: string
  hint?: Child
  /** What is wrong with the value that was sent, and what to enter instead. */
  error?: Child
  required?: boolean
}

export type TextProps = FieldProps & {
  value?: string
  type?: 'text' | 'search' | 'date' | 'number' | 'url' | 'password'
  inputmode?: 'decimal' | 'numeric'
  placeholder?: string
  autocomplete?: string
  maxlength?: number
  /** The first field of a page that is there for its form alone. */
  autofocus?: boolean
}

/** One line of text. */
export const TextField = (props: TextProps) => (
  <Labelled field={props}>
    <input
      class="in"
      id={idOf(props)}
      name={props.name}
      type={props.type ?? 'text'}
      value={props.value}
      inputmode={props.inputmode}
      placeholder={props.placeholder}
      autocomplete={props.autocomplete ?? 'off'}
      maxlength={props.maxlength}
      required={props.required}
      autofocus={props.autofocus}
      aria-invalid={props.error ? 'true' : undefined}
      aria-describedby={describedBy(props)}
    />
  </Labelled>
)

export type AreaProps = FieldProps & {
  value?: string
  rows?: number
  placeholder?: string
  mono?: boolean
}

/** Several lines of text. */
export const AreaField = (props: AreaProps) => (
  <Labelled field={props}>
    <textarea
      class={['in', props.mono && 'mono']}
      id={idOf(props)}
      name={props.name}
      rows={String(props.rows ?? 3)}
      placeholder={props.placeholder}
      required={props.required}
      aria-invalid={props.error ? 'true' : undefined}
      aria-describedby={describedBy(props)}
    >
      {props.value}
    </textarea>
  </Labelled>
)

export type Option = { value: string; label: string }

export type SelectProps = FieldProps & { options: readonly Option[]; value?: string }

/** One of many. */
export const SelectField = (props: SelectProps) => (
  <Labelled field={props}>
    <select
      class="in"
      id={idOf(props)}
      name={props.name}
      required={props.required}
      aria-invalid={props.error ? 'true' : undefined}
      aria-describedby={describedBy(props)}
    >
      {props.options.map(({ value, label }) => (
        <option value={value} selected={value === props.value}>
          {label}
        </option>
      ))}
    </select>
  </Labelled>
)

/** One of a few, all in sight. */
export const ChoiceField = (props: SelectProps) => (
  <fieldset class="field" aria-describedby={describedBy(props)}>
    <legend>{props.label}</legend>
    <div class="pick">
      {props.options.map(({ value, label }) => (
        <label>
          <input
            type="radio"
            name={props.name}
            value={value}
            checked={value === props.value}
            required={props.required}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
    <Below field={props} />
  </fieldset>
)

type CheckProps = FieldProps & { value?: string; checked?: boolean }

/** Yes or no. */
export const CheckField = (props: CheckProps) => (
  <div class="field">
    <label class="check">
      <input
        type="checkbox"
        id={idOf(props)}
        name={props.name}
        value={props.value ?? 'true'}
        checked={props.checked}
        required={props.required}
        aria-invalid={props.error ? 'true' : undefined}
        aria-describedby={describedBy(props)}
      />
      <span>{props.label}</span>
    </label>
    <Below field={props} />
  </div>
)

const Labelled = ({ field, children }: { field: FieldProps; children: Markup }) => (
  <div class="field">
    <label for={idOf(field)}>{field.label}</label>
    {children}
    <Below field={field} />
  </div>
)

const Below = ({ field }: { field: FieldProps }) => (
  <>
    {field.error ? (
      <small class="err" id={`${idOf(field)}-error`}>
        {field.error}
      </small>
    ) : null}
    {field.hint ? <small id={`${idOf(field)}-hint`}>{field.hint}</small> : null}
  </>
)

const idOf = ({ form, name }: FieldProps): string => (form ? `${form}-${name}` : name)

function describedBy(field: FieldProps): string | undefined {
  const ids = [field.error && `${idOf(field)}-error`, field.hint && `${idOf(field)}-hint`]
  return ids.filter(Boolean).join(' ') || undefined
}
