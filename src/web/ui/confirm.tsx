/** Asks before something that cannot be undone. */
import { Button, ButtonLink } from './button.tsx'
import { ActionForm } from './form.tsx'
import type { Child } from './jsx-runtime.ts'
import { Panel } from './panel.tsx'

type ConfirmProps = {
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
  /** Back without doing it, and how that is called: "Keep them". */
  keep: string
  keepHref: string
  /** Goes along with the form. */
  fields?: Child
}

export const Confirm = (props: ConfirmProps) => (
  <Panel id={props.id} title={props.title}>
    <div class="pad stack">
      <p>{props.consequence}</p>
      {props.affected ? (
        <ul class="affected quiet">
          {props.affected.map((one) => (
            <li>{one}</li>
          ))}
        </ul>
      ) : null}
      <ActionForm action={props.action} target={props.target}>
        {props.fields}
        <Button look={props.look ?? 'bad'}>{props.button}</Button>
        <ButtonLink look="plain" href={props.keepHref} keeps>
          {props.keep}
        </ButtonLink>
      </ActionForm>
    </div>
  </Panel>
)
