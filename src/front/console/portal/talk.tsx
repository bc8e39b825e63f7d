/** The console page: the conversation and its form. */
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import type { Millis } from '../../../kernel/clock.ts'
import type { Nusd } from '../../../kernel/money.ts'
import { toUsd } from '../../../kernel/money.ts'
import { type Answer, readAnswer } from '../../../models/answers/answer-parts.ts'
import type { Model } from '../../../models/model.ts'
import { AnswerView } from '../../../models/pages/answer-view.tsx'
import { priceText } from '../../../models/pages/shown-rates.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import type { RunRow } from '../../../storage/db/schema/schema.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { AreaField, TextField } from '../../../web/ui/form.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { PageHead, Split } from '../../../web/ui/panel.tsx'
import type { Draft } from '../api/question.ts'
import type { FaultWords } from '../fault-words.ts'
import { roomIn, type SentFile, takenText } from '../files.ts'
import {
  type ConsoleQuestion,
  curlOf,
  mostOf,
  recentTurns,
  type Turn,
  usualTokensOf,
} from '../talk.ts'
import { fileTokensOf, tariffOf, writeTariff } from '../tariff.ts'
import { Attach } from './attach.tsx'
import { KeyPanel, receiptPath, ThisRun } from './side.tsx'
import { Message } from './turn-view.tsx'

export const consolePath = '/dashboard/console'

/** The text of "Insert an example". */
export const example = 'Why batch receipts before writing a root to the chain?'

/** The last question and its answer, for a page without script. */
export type Exchange = {
  input: string
  files: readonly SentFile[]
  answer: Answer
  run: RunRow | undefined
  /** Whether it was a terminal command. */
  isCommand?: boolean
}

export type ConsoleView = {
  account: string
  baseUrl: string
  bodyBytes: number
  now: Millis
  models: readonly Model[]
  draft: Draft
  key: ShownKey | undefined
  said?: Exchange | undefined
  fault?: FaultWords | undefined
  /** Names the form of this page. */
  once: string
  /** A refused cap. */
  cap?: { cap: string; error: string } | undefined
}

/** The page: the conversation on the left, its cost on the right. */
export function ConsolePage({ view }: { view: ConsoleView }) {
  const { draft, said, key, now, models } = view
  const model = models.find(({ id }) => id === draft.model) ?? models[0]
  const ask = askOf(draft, model)
  // Shows the question just asked, because the next one is still empty.
  const run = said
    ? { ...ask, input: said.input, files: said.files, turns: turnsBefore(draft, said) }
    : ask
  return (
    <>
      <PageHead title="Console">
        <div class="row">
          <ModelField models={models} value={model?.id} />
          <ButtonLink look="plain" href={consolePath}>
            Start over
          </ButtonLink>
        </div>
      </PageHead>
      <Split>
        <section class="sheet" aria-label="Conversation">
          <Talk view={view} />
          <AskForm view={view} model={model} most={model && mostOf(tariffOf(model), ask)} />
        </section>
        <div class="stack">
          <ThisRun run={said?.run} curl={curlOf(view.baseUrl, run)} />
          <KeyPanel shown={key} now={now} asked={view.cap} />
        </div>
      </Split>
    </>
  )
}

const ModelField = ({ models, value }: { models: readonly Model[]; value: string | undefined }) => (
  <div class="field">
    <label for="model">Model</label>
    <select class="in" id="model" name="model" form="ask" required>
      {models.map((model) => (
        <option
          value={model.id}
          selected={model.id === value}
          data-most={String(model.maxOutputTokens)}
          data-output={String(model.prices.outputPusd)}
          data-name={model.name}
          data-tariff={writeTariff(model)}
        >
          {[model.name, priceText(model, 'per 1M'), takenText(fileTokensOf(model))]
            .filter(Boolean)
            .join(', ')}
        </option>
      ))}
    </select>
  </div>
)

function Talk({ view: { account, draft, said, fault } }: { view: ConsoleView }) {
  const before = turnsBefore(draft, said)
  return (
    <div class="talk held" id="talk" role="log" aria-label="Answers" tabindex="0">
      {before.map((turn) => (
        <TurnView turn={turn} />
      ))}
      {said ? <ExchangeView said={said} /> : null}
      {before.length === 0 && !said ? <Nothing account={account} /> : null}
      <Trouble fault={fault} />
    </div>
  )
}

/** Leaves out the last answer, which is shown with its cost. */
function turnsBefore({ turns }: Draft, said: Exchange | undefined): Turn[] {
  const last = said?.run && receiptIdOf(said.run.id)
  return turns.filter(({ receipt_id: id }) => id === undefined || id !== last)
}

const TurnView = ({ turn }: { turn: Turn }) => (
  <>
    <Message input={turn.input} files={turn.files} />
    <AnswerView answer={{ ...readAnswer(turn.reply ?? {}), text: turn.output }} />
    {turn.receipt_id ? (
      <p class="cost quiet">
        Receipt <IdLink value={turn.receipt_id} href={receiptPath(turn.receipt_id)} />
      </p>
    ) : null}
  </>
)

const ExchangeView = ({ said: { input, files, answer, run, isCommand } }: { said: Exchange }) => (
  <>
    <Message input={input} files={files} />
    <AnswerView answer={answer} isCommand={isCommand ?? false} />
    {run ? (
      <p class="cost quiet">
        <Amount nusd={run.cost} /> · Receipt{' '}
        <IdLink value={receiptIdOf(run.id)} href={receiptPath(receiptIdOf(run.id))} />
      </p>
    ) : null}
  </>
)

const Nothing = ({ account }: { account: string }) => (
  <div id="nothing">
    <Empty
      hash={account}
      title="No messages yet"
      action={
        <span id="example">
          <ButtonLink href={`${consolePath}?input=${encodeURIComponent(example)}`}>
            Insert an example
          </ButtonLink>
        </span>
      }
    >
      Write a message below. Each run leaves a signed receipt that you can keep or share.
    </Empty>
  </div>
)

type AskFormProps = { view: ConsoleView; model: Model | undefined; most: Nusd | undefined }

const AskForm = ({ view: { draft, ...view }, model, most }: AskFormProps) => (
  <form
    class="pad stack"
    id="ask"
    method="post"
    action="/api/portal/console/run"
    enctype="multipart/form-data"
    data-base={view.baseUrl}
  >
    <input
      type="hidden"
      name="turns"
      value={JSON.stringify(recentTurns(draft.turns, roomIn(view.bodyBytes)))}
    />
    <input type="hidden" name="once" value={view.once} />
    <AreaField
      name="input"
      label={<span class="vh">Message</span>}
      placeholder="Message. Ctrl+Enter to send, /help for commands"
      value={draft.input}
      required
    />
    <details>
      <summary>Parameters</summary>
      <div class="stack">
        <div class="grid2">
          <TextField
            name="max_output_tokens"
            label="Max output tokens"
            type="number"
            inputmode="numeric"
            placeholder="1024, or the model’s limit"
            value={draft.max_output_tokens}
          />
          <TextField
            name="temperature"
            label="Temperature"
            inputmode="decimal"
            placeholder="Model default"
            value={draft.temperature}
          />
        </div>
        <AreaField name="system" label="System prompt" rows={2} value={draft.system} />
      </div>
    </details>
    <Attach models={view.models} model={model} files={draft.files} room={roomIn(view.bodyBytes)} />
    <div class="row apart">
      <small class="quiet">
        Holds up to <code id="most">${toUsd(most ?? 0n)}</code>. You pay only for what you use.
      </small>
      <span class="row">
        <button class="btn scripted" id="stop" type="button" disabled>
          Stop
        </button>
        <Button look="go">Send</Button>
      </span>
    </div>
  </form>
)

/** The error of the last question. The script fills the same note. */
const Trouble = ({ fault }: { fault: FaultWords | undefined }) => (
  <div id="trouble" role="alert" hidden={fault === undefined}>
    <Notice
      tone="bad"
      title={<span id="trouble-what">{fault?.what}</span>}
      action={
        <button class="btn small" id="retry" type="submit" form="ask">
          Retry
        </button>
      }
    >
      <span id="trouble-charged">{fault?.charged}</span>{' '}
      <span id="trouble-receipt">
        {fault?.receiptId ? (
          <>
            Receipt <IdLink value={fault.receiptId} href={receiptPath(fault.receiptId)} />
          </>
        ) : null}
      </span>
    </Notice>
  </div>
)

/** The request that the fields describe, ignoring invalid ones. */
function askOf(draft: Draft, model: Model | undefined): ConsoleQuestion {
  const temperature = Number.parseFloat(draft.temperature)
  return {
    model: model?.id ?? '',
    input: draft.input,
    files: draft.files,
    turns: draft.turns,
    max_output_tokens: tokensAsked(draft, model?.maxOutputTokens ?? 1),
    ...(draft.system ? { system: draft.system } : {}),
    ...(Number.isFinite(temperature) ? { params: { temperature } } : {}),
  }
}

function tokensAsked({ max_output_tokens: text }: Draft, limit: number): number {
  const most = Math.trunc(Number(text))
  return most > 0 ? Math.min(most, limit) : usualTokensOf(limit)
}
