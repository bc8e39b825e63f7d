/** The texts of a run that are kept: as a conversation, or as they were sent. */
import { AnswerView } from '../../models/pages/answer-view.tsx'
import type { Retention } from '../../storage/texts/retention.ts'
import type { Texts } from '../../storage/texts/store.ts'
import { CopyButton } from '../../web/ui/button.tsx'
import { Code } from '../../web/ui/copy-box.tsx'
import { Pad, Panel } from '../../web/ui/panel.tsx'
import { answersIn, messagesIn, type SaidMessage } from '../conversation.ts'
import type { ShownRun } from '../shown-run.ts'

/** The kept texts, and the choices of their page. */
export type KeptTexts = {
  /** Undefined where they are not kept. */
  texts: Texts | undefined
  /** The choice of the account as it is now. */
  retention: Retention
  /** The address of this page with the texts as JSON, or as a conversation again. */
  otherHref: string
  isJson: boolean
  /** The same request as a command. */
  curl: string
}

/** The most characters of a text that the page shows; the receipt's file has all of it. */
const shownMax = 20_000
/** The most messages that the page shows; the newest are the ones that were answered. */
const messagesMax = 60

export function ConversationPanel({ run, kept }: { run: ShownRun['run']; kept: KeptTexts }) {
  const { texts, isJson, otherHref } = kept
  const said = texts && messagesIn(texts.input)
  const isShownAsJson = texts !== undefined && (isJson || !said)
  return (
    <Panel
      id="texts"
      title="Conversation"
      aside={
        said ? <a href={`${otherHref}#texts`}>{isJson ? 'As conversation' : 'As JSON'}</a> : null
      }
    >
      {texts === undefined ? (
        <Pad>
          <p class="quiet">{whyGone(run, kept.retention)}</p>
        </Pad>
      ) : isShownAsJson ? (
        <Pad>
          <Text name="Input" value={texts.input} />
          {texts.output === null ? null : <Text name="Output" value={texts.output} />}
        </Pad>
      ) : (
        <Talk said={said ?? []} texts={texts} />
      )}
      <details class="pad" id="again">
        <summary>The same request as curl</summary>
        <div class="row apart">
          <small class="quiet">The key comes from the variable COUNTERFOIL_KEY.</small>
          <CopyButton of="run-curl" label="Copy as curl" />
        </div>
        <Code id="run-curl" label="The same request as curl" text={kept.curl} wrap />
      </details>
    </Panel>
  )
}

function Talk({ said, texts }: { said: readonly SaidMessage[]; texts: Texts }) {
  const shown = said.slice(-messagesMax)
  return (
    <div class="talk">
      {shown.length < said.length ? (
        <p class="quiet">
          The {messagesMax} newest of {said.length} messages; all are in the JSON.
        </p>
      ) : null}
      {shown.map((message) => (
        <MessageView message={message} />
      ))}
      {answersIn(texts.output)?.map((answer) => (
        <>
          <p class="side">Answer</p>
          <AnswerView answer={{ ...answer, text: cut(answer.text) }} />
        </>
      )) ?? <p class="quiet">No text came back.</p>}
    </div>
  )
}

const sides: Record<string, string> = { user: 'You', assistant: 'Answer', system: 'System' }

const MessageView = ({ message: { role, answer } }: { message: SaidMessage }) => (
  <>
    <p class="side">{sides[role] ?? role}</p>
    {role === 'assistant' ? (
      <AnswerView answer={{ ...answer, text: cut(answer.text) }} />
    ) : (
      <p class={role === 'user' ? 'you' : 'quiet told'}>{cut(answer.text)}</p>
    )}
  </>
)

const cut = (text: string): string =>
  text.length > shownMax ? `${text.slice(0, shownMax)}…` : text

/** Why the texts of an ended run are not there. */
function whyGone({ outcome, cost }: ShownRun['run'], retention: Retention) {
  if (retention === 'none') {
    return (
      <>
        This account keeps no texts. You can keep those of later runs:{' '}
        <a href="/dashboard/settings">Settings</a>.
      </>
    )
  }
  if (outcome !== 'complete' && cost === 0n) return 'A run that cost nothing leaves no texts.'
  return `They were erased, are older than ${periods[retention]}, or came before you kept texts.`
}

const periods: Record<Retention, string> = { none: '', '24h': '24 hours', '30d': '30 days' }

const Text = ({ name, value }: { name: string; value: Texts['input'] }) => (
  <div class="stack text">
    <h3>{name}</h3>
    <Code
      id={`text-${name.toLowerCase()}`}
      label={name}
      text={cut(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
      wrap
    />
  </div>
)
