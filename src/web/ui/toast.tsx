/** Toasts: the last action, at the corner of the page, with an undo button where one exists. */
import { Button } from './button.tsx'
import { ActionForm } from './form.tsx'
import { Icon } from './icon.tsx'

/** The action, and its object. */
export type Done = { what: DoneWhat; id?: string }

type Undo = {
  /** The portal route that takes it back, and what it is told. */
  action: (id: string) => string
  fields?: Readonly<Record<string, string>>
  /** The panel that htmx replaces. Without it the form is a plain one. */
  target?: string
}

type ToastText = { words: string; undo?: Undo }

const key = (id: string, verb: string): string => `/api/portal/keys/${id}/${verb}`

/** Everything that a page says this way. Only what can truly be taken back has an undo. */
const said = {
  key_changed: { words: 'Key saved.' },
  key_paused: {
    words: 'Key paused.',
    undo: { action: (id: string) => key(id, 'resume'), target: '#key' },
  },
  key_resumed: { words: 'Key resumed.' },
  key_revoked: { words: 'Key revoked.' },
  plan_changed: { words: 'Plan changed.' },
  plan_cancelled: {
    words: 'Plan cancelled at the end of its period.',
    undo: { action: () => '/api/portal/plans/resume', target: '#plan' },
  },
  plan_resumed: { words: 'The plan renews again.' },
  passport_created: { words: 'Passport created.' },
  passport_saved: { words: 'Passport saved.' },
  passport_published: {
    words: 'Passport published.',
    undo: { action: (id: string) => `/api/portal/passports/${id}/hide`, target: '#passport' },
  },
  passport_hidden: { words: 'Passport hidden.' },
  statement_issued: { words: 'Statement issued.' },
  passport_retired: { words: 'Passport retired.' },
  settings_saved: { words: 'Settings saved.' },
  session_ended: { words: 'Session ended.' },
  sessions_ended: { words: 'All other sessions ended.' },
  receipt_shared: {
    words: 'Receipt shared.',
    undo: {
      action: (id: string) => `/api/portal/receipts/${id}/share`,
      fields: { visibility: 'private' },
    },
  },
  receipt_hidden: { words: 'Receipt is private again.' },
  texts_erased: { words: 'Texts erased.' },
  member_named: { words: 'Name saved.' },
  voucher_redeemed: { words: 'Voucher redeemed.' },
  deposit_claimed: { words: 'The deposit came over to this account.' },
  webhook_changed: { words: 'Webhook saved.' },
  webhook_enabled: { words: 'Webhook enabled.' },
  webhook_disabled: { words: 'Webhook disabled.' },
  webhook_removed: { words: 'Webhook deleted.' },
  webhook_tested: { words: 'A test is on its way.' },
  webhook_resent: { words: 'The event is on its way again.' },
  provider_added: { words: 'Provider added.' },
  configuration_changed: { words: 'Configuration changed.' },
  run_stopped: { words: 'Run stopped.' },
} satisfies Record<string, ToastText>

export type DoneWhat = keyof typeof said

/** The text of a cookie: `key_paused.key_01…`. */
export const doneText = ({ what, id }: Done): string => (id === undefined ? what : `${what}.${id}`)

/** Reads it; undefined for anything that no action of ours wrote. */
export function readDone(text: string | undefined): Done | undefined {
  const [, what = '', id] = /^([a-z_]{1,40})(?:\.([a-z0-9_-]{1,64}))?$/.exec(text ?? '') ?? []
  if (!Object.hasOwn(said, what)) return undefined
  return { what: what as DoneWhat, ...(id === undefined ? {} : { id }) }
}

/** The live region of toasts. It is always in the page, so that screen readers announce changes. */
export const Toasts = ({ done }: { done?: Done | undefined }) => (
  <div id="toasts" role="status" aria-live="polite">
    {done ? <Toast done={done} /> : null}
  </div>
)

/** The same beside a fragment for htmx. */
export const ToastPart = ({ done }: { done: Done }) => (
  <hx-partial hx-target="#toasts" hx-swap="innerHTML">
    <Toast done={done} />
  </hx-partial>
)

/** A script takes it away after a while, or at once when asked. */
function Toast({ done: { what, id = '' } }: { done: Done }) {
  const { words, undo }: ToastText = said[what]
  return (
    <div class="toast" data-toast="">
      <Icon name="ok" />
      <p>{words}</p>
      {undo ? (
        <ActionForm action={undo.action(id)} {...(undo.target ? { target: undo.target } : {})}>
          {Object.entries(undo.fields ?? {}).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          <Button small>Undo</Button>
        </ActionForm>
      ) : null}
      <button class="btn plain small scripted" type="button" data-dismiss="">
        <Icon name="bad" />
        <span class="vh">Dismiss</span>
      </button>
    </div>
  )
}
