/** Draws a form from the shape of its fields: labels, hints, bounds, and errors at their field. */
import { Button } from './button.tsx'
import {
  ActionForm,
  type ActionProps,
  AreaField,
  type AreaProps,
  CheckField,
  ChoiceField,
  type ErrorOf,
  errorOf as errorOfParam,
  type FieldProps,
  fieldsOf,
  Refused,
  SelectField,
  type SelectProps,
  type SentForm,
  TextField,
  type TextProps,
} from './form.tsx'
import type { Child } from './jsx-runtime.ts'
import { Panel, type PanelProps } from './panel.tsx'

/** The parts of a field that do not depend on what was sent. */
type Drawn<P> = Omit<P, 'form' | 'name' | 'value' | 'error'>

export type FormField = { half?: boolean; initial?: string } & (
  | ({ kind?: 'text' } & Drawn<TextProps>)
  | ({ kind: 'area' } & Drawn<AreaProps>)
  | ({ kind: 'select' | 'choice' } & Drawn<SelectProps>)
  | ({ kind: 'check' } & Drawn<FieldProps>)
  /** Boxes under one legend. Browsers leave out unchecked ones: the marker says that they came. */
  | {
      kind: 'boxes'
      label: string
      marker: string
      boxes: Readonly<Record<string, Drawn<FieldProps>>>
    }
  | { kind: 'hidden'; value: string }
)

/** The fields of a form by name, in their order; neighbours that are halves stand side by side. */
export type FormFields = Readonly<Record<string, FormField>>

type FieldsProps = {
  of: FormFields
  /** Begins the ids of the fields. */
  form: string
  sent: SentForm
  errorOf?: ErrorOf
}

/** Whether a field of the form shows what is wrong. */
export const isMarked = (of: FormFields, refusal: SentForm['refusal'], errorOf = errorOfParam) =>
  Object.keys(of).some((name) => errorOf(refusal, name) !== undefined)

export function Fields({ of, form, sent, errorOf = errorOfParam }: FieldsProps) {
  const draw = ([name, field]: [string, FormField]) => (
    <Field name={name} of={field} form={form} sent={sent} errorOf={errorOf} />
  )
  const rows: [string, FormField][][] = []
  for (const field of Object.entries(of)) {
    const row = rows.at(-1)
    if (row?.[0]?.[1].half && field[1].half) row.push(field)
    else rows.push([field])
  }
  return (
    <>
      {rows.map((row) =>
        row[0]?.[1].half ? <div class="grid2">{row.map(draw)}</div> : row.map(draw),
      )}
    </>
  )
}

type OneProps = { name: string; of: FormField; form: string; sent: SentForm; errorOf: ErrorOf }

function Field({ name, of, form, sent, errorOf }: OneProps) {
  const { half: _, initial, ...words } = of
  if (words.kind === 'hidden') return <input type="hidden" name={name} value={words.value} />
  const { draft, refusal } = sent
  if (words.kind === 'boxes') {
    return <Boxes {...words} form={form} name={name} draft={draft} error={errorOf(refusal, name)} />
  }
  const own = fieldsOf(form, sent, errorOf)(name)
  const field = { ...own, value: draft[name] || initial || '' }
  if (words.kind === 'check') {
    return <CheckField {...words} {...own} value="true" checked={isTicked(draft[name])} />
  }
  if (words.kind === 'area') return <AreaField {...words} {...field} />
  if (words.kind === 'select') return <SelectField {...words} {...field} />
  if (words.kind === 'choice') return <ChoiceField {...words} {...field} />
  return <TextField {...words} {...field} />
}

const isTicked = (value: string | undefined): boolean =>
  value !== undefined && value !== '' && value !== 'false'

type BoxesProps = Extract<FormField, { kind: 'boxes' }> & {
  form: string
  name: string
  draft: SentForm['draft']
  error: string | undefined
}

const Boxes = ({ form, name, label, marker, boxes, draft, error }: BoxesProps) => (
  <fieldset class="field" aria-describedby={error ? `${form}-${name}-error` : undefined}>
    <legend>{label}</legend>
    <input type="hidden" name={marker} value="boxes" />
    {error ? (
      <small class="err" id={`${form}-${name}-error`}>
        {error}
      </small>
    ) : null}
    <div class="grid2 boxes">
      {Object.entries(boxes).map(([box, words]) => (
        <CheckField {...words} form={form} name={box} checked={draft[box] !== undefined} />
      ))}
    </div>
  </fieldset>
)

type FormPanelProps = Pick<PanelProps, 'id' | 'title' | 'needs' | 'acts'> &
  Pick<ActionProps, 'action' | 'target' | 'swap'> &
  Omit<FieldsProps, 'form'> & {
    /** Begins the ids of the fields; default: the id of the panel. */
    form?: string
    /** Whether a field shows what is wrong, where `children` has some too. */
    isMarked?: boolean
    /** "Nothing was created." Without it a refusal stands at its field alone. */
    what?: string
    button: string
    look?: 'go'
    /** Above the form. */
    above?: Child
    /** Between the fields and the button. */
    children?: Child
    /** Beside the button. */
    beside?: Child
  }

/** A panel that is a form. */
export const FormPanel = (props: FormPanelProps) => {
  const { id, title, needs, acts, action, target, swap, form = id, of, sent, errorOf, what } = props
  return (
    <Panel {...{ id, title, needs, acts }}>
      {props.above}
      <ActionForm {...{ action, target, swap }} look="stack">
        {what === undefined ? null : (
          <Refused
            refusal={sent.refusal}
            what={what}
            isMarked={props.isMarked ?? isMarked(of, sent.refusal, errorOf)}
          />
        )}
        <Fields of={of} form={form} sent={sent} {...(errorOf && { errorOf })} />
        {props.children}
        <div class="row">
          <Button {...(props.look && { look: props.look })}>{props.button}</Button>
          {props.beside}
        </div>
      </ActionForm>
    </Panel>
  )
}
