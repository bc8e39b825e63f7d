/** Asks before something that cannot be undone. */
import type { Refusal } from '../../kernel/refusal.ts'
import { Button, ButtonLink } from './button.tsx'
import { ActionForm } from './form.tsx'
import type { Child } from './jsx-runtime.ts'
import { ErrorNote } from './notice.tsx'
import { PageHead, Panel } from './panel.tsx'

export type ConfirmProps = {
  id: string
  /** "Revoke research-fleet?" */
  title: Child
  /** What it does, counted: "This stops 3 keys at once and cannot be undone." */
  consequence: Child
  /** What it hits, one by one. */
  affected?: readonly Child[]
  action: string
  target?: string
  /** Repeats the verb: "Revoke 3 keys". */
  button: string
  /** `bad` where it destroys something. */
  look?: 'bad' | 'go'
  /** The button has the focus: only where it can be undone. */
  hasFocus?: boolean
  /** Back without doing it, and how that is called: "Keep them". */
  keep: string
  keepHref: string
  /** Goes along with the form. */
  fields?: Child
  /** Why it was not done when the form was sent. */
  refusal?: Refusal | undefined
}

/** A page that asks: its title above the panel, which htmx shows beside a list. */
export const ConfirmPage = ({ head, ...panel }: ConfirmProps & { head: string }) => (
  <>
    <PageHead title={head} />
    <Confirm {...panel} />
  </>
)

export const Confirm = (props: ConfirmProps) => (
  <Panel id={props.id} title={props.title}>
    <ActionForm action={props.action} target={props.target} look="stack">
      {props.refusal ? (
        <ErrorNote what="Nothing was changed." charged={props.refusal.message} />
      ) : null}
      <p>{props.consequence}</p>
      {props.affected ? (
        <ul class="affected quiet">
          {props.affected.map((one) => (
            <li>{one}</li>
          ))}
        </ul>
      ) : null}
      {props.fields}
      <div class="row">
        <Button look={props.look ?? 'bad'} autofocus={props.hasFocus ?? false}>
          {props.button}
        </Button>
        <ButtonLink look="plain" href={props.keepHref} keeps>
          {props.keep}
        </ButtonLink>
      </div>
    </ActionForm>
  </Panel>
)
