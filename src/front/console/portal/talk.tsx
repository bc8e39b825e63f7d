/** The console page: the conversation, and the places of its form and figures. */
import { readAnswer } from '../../../models/answers/answer-parts.ts'
import type { Model } from '../../../models/model.ts'
import { AnswerView } from '../../../models/pages/answer-view.tsx'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { IdLink } from '../../../web/ui/hash.tsx'
import { Notice } from '../../../web/ui/notice.tsx'
import { PageHead, Split } from '../../../web/ui/panel.tsx'
import type { Draft } from '../api/question.ts'
import type { FaultWords } from '../fault-words.ts'
import { type ConsoleQuestion, curlOf, mostOf, type Turn, usualTokensOf } from '../talk.ts'
import { tariffOf } from '../tariff.ts'
import { AskForm } from './ask-form.tsx'
import type { ConsoleView, Exchange } from './console-view.ts'
import { KeyPanel, receiptPath, ThisRun } from './side.tsx'
import { Message } from './turn-view.tsx'

export const consolePath = '/dashboard/console'

/** The text of "Insert an example". */
export const example = 'Why batch receipts before writing a root to the chain?'

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
        <div class="row" id="new-chat">
          <ButtonLink icon="plus" href={consolePath}>
            New chat
          </ButtonLink>
        </div>
      </PageHead>
      <Split>
        <section class="sec chat" aria-label="Conversation">
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
        <Amount nusd={run.cost} as="list" /> · Receipt{' '}
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
