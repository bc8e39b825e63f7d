/** The console's panels beside the conversation: this run, and the key. */
import { statusOf } from '../../../access/keys/key.ts'
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import { type Millis, toRfc3339 } from '../../../kernel/clock.ts'
import { type Nusd, toUsd } from '../../../kernel/money.ts'
import { windowEnd } from '../../../ledger/window.ts'
import { outputUnitsOf } from '../../../models/meter.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import type { RunRow } from '../../../storage/db/schema/schema.ts'
import { Amount, amountText } from '../../../web/ui/amount.tsx'
import { Button, CopyButton } from '../../../web/ui/button.tsx'
import { Code } from '../../../web/ui/copy-box.tsx'
import { ActionForm, TextField } from '../../../web/ui/form.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { Meter } from '../../../web/ui/meter.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { Badge, type Tone } from '../../../web/ui/status.tsx'
import { VisitReceipts } from '../../../web/ui/visit-receipts.tsx'
import { defaultCap } from '../console-key.ts'
import { inputText, piecesOf, tokensText } from '../talk.ts'

/** The page of a receipt. */
export const receiptPath = (receiptId: string): string => `/receipts/${receiptId}`

/** The figures of the current run, and the same call for an agent. A script updates both. */
export const ThisRun = ({ run, curl }: { run: RunRow | undefined; curl: string }) => (
  <Panel id="this-run" title="This run" aside={<RunState run={run} />}>
    <Pad>
      <Held used={run?.cost ?? 0n} held={run?.hold ?? 0n} />
      <Facts of={factsOf(run)} />
      <VisitReceipts />
      <div class="row apart">
        <h3>From an agent</h3>
        <CopyButton of="curl" label="Copy as curl" />
      </div>
      <Code id="curl" label="The same call by an agent" text={<Pieces of={curl} />} wrap />
    </Pad>
  </Panel>
)

/** A hyphen would break a line too: pieces that have one stay together. */
const Pieces = ({ of }: { of: string }) => (
  <>
    {piecesOf(of).map((piece) => (
      <>
        {piece.includes('-') ? <span class="hex">{piece}</span> : piece}
        {piece.trim() === '' ? null : <wbr />}
      </>
    ))}
  </>
)

/** Like {@link Meter}, but 0 of 0 (before a run, or a free model) is not an alarm. */
function Held({ used, held }: { used: Nusd; held: Nusd }) {
  const words = `${amountText(used)} of ${amountText(held)} held`
  const perMille = held === 0n ? 0n : (used * 1000n) / held
  return (
    <div class="meter">
      <progress max="1000" value={String(perMille)} aria-label={words}></progress>
      <small>{words}</small>
    </div>
  )
}

function RunState({ run }: { run: RunRow | undefined }) {
  if (!run) return <span id="run-state" />
  const [tone, words] = stateWords[run.outcome ?? ''] ?? (['bad', 'Not finished'] as const)
  return (
    <span id="run-state">
      <Badge tone={tone}>{words}</Badge>
    </span>
  )
}

const stateWords: Record<string, readonly [Tone, string]> = {
  complete: ['ok', 'Done'],
  cancelled: ['wait', 'Stopped'],
}

/** The script finds the values by these ids. */
const factsOf = (run: RunRow | undefined) =>
  [
    ['First token', <code id="run-first">{run ? firstToken(run) : none}</code>],
    ['Speed', <code id="run-speed">{run ? speed(run) : none}</code>],
    ['Input', <code id="run-input">{run ? inputText(run.lines) : none}</code>],
    ['Output', <code id="run-output">{run ? tokensText(outputUnitsOf(run.lines)) : none}</code>],
    ['Cost', <code id="run-cost">{run ? <Amount nusd={run.cost} /> : none}</code>],
    ['Receipt', <code id="run-receipt">{run ? <ReceiptLink run={run} /> : none}</code>],
  ] as const

const none = '–'

const ReceiptLink = ({ run }: { run: RunRow }) => (
  <IdLink value={receiptIdOf(run.id)} href={receiptPath(receiptIdOf(run.id))} />
)

const firstToken = ({ startedAt, firstByteAt }: RunRow): string =>
  startedAt === null || firstByteAt === null ? none : `${firstByteAt - startedAt} ms`

function speed(run: RunRow): string {
  const { firstByteAt, finishedAt } = run
  const ms = firstByteAt === null || finishedAt === null ? 0 : finishedAt - firstByteAt
  // Output that arrives at once has no meaningful speed.
  if (ms < 50) return none
  return `${Math.round((outputUnitsOf(run.lines) * 1000) / ms).toLocaleString('en-US')} tokens/s`
}

type KeyView = {
  shown: ShownKey | undefined
  now: Millis
  /** A refused cap, and the reason. */
  asked?: { cap: string; error: string } | undefined
}

/** The paying key: its spend, and a form to change its cap, which the page's script sends. */
export function KeyPanel({ shown, now, asked }: KeyView) {
  const state = shown ? statusOf(shown.chain, now) : undefined
  if (state === 'revoked') return <RevokedPanel />
  const limit = shown?.key.capLimit ?? defaultCap
  const used = (shown?.window?.spent ?? 0n) + (shown?.window?.held ?? 0n)
  return (
    <Panel
      id="console-key"
      title="Spending limit"
      aside={state === 'paused' ? <Badge tone="warn">Paused</Badge> : null}
    >
      <Pad>
        <Meter used={used} limit={limit} of={periodOf(shown, now)} />
        <p class="quiet">
          <small>{state === undefined ? beforeUse : <Pays shown={shown} now={now} />}</small>
        </p>
      </Pad>
      <ActionForm action="/api/portal/console/cap" look="stack">
        <TextField
          name="cap"
          label="Cap, USD"
          form="console"
          inputmode="decimal"
          value={asked?.cap ?? toUsd(limit)}
          error={asked?.error}
          maxlength={20}
          required
        />
        <p>
          <Button>Change cap</Button>
        </p>
      </ActionForm>
    </Panel>
  )
}

const beforeUse =
  'Your first message creates a key named Console, which pays for your runs here. It is listed ' +
  'with your keys, and its secret is never shown.'

function Pays({ shown, now }: { shown: ShownKey | undefined; now: Millis }) {
  const resetsAt = shown && windowEnd(shown.key.capWindow, now)
  return (
    <>
      Paid by your key <a href="/dashboard/keys">{shown?.key.name}</a>
      {resetsAt ? `, whose cap resets at ${toRfc3339(resetsAt).slice(11, 16)} UTC` : ''}. Its secret
      is never shown.
    </>
  )
}

function periodOf(shown: ShownKey | undefined, now: Millis): string {
  const window = shown?.key.capWindow ?? 'day'
  if (window === 'lifetime' || windowEnd(window, now) === null) return ''
  return window === 'day' ? 'today' : `this ${window}`
}

const RevokedPanel = () => (
  <Panel id="console-key" title="Spending limit">
    <Pad>
      <Notice tone="warn" title="You revoked the console key.">
        Create a new key to continue. It gets the same cap.
      </Notice>
    </Pad>
    <ActionForm action="/api/portal/console/key" look="stack">
      <p>
        <Button>Create a new key</Button>
      </p>
    </ActionForm>
  </Panel>
)
