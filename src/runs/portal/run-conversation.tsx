/** The texts of a run that are kept: as a conversation, or as they were sent. */
import type { Answer } from '../../models/answers/answer-parts.ts'
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
/** The most characters of Markdown that a page draws: hostile text costs a second a megabyte. */
const drawnMax = 60_000

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
  const answers = answersIn(texts.output)
  const { isDrawn } = drawnFrom([...shown.map(({ answer }) => answer), ...(answers ?? [])])
  return (
    <div class="talk">
      {shown.length < said.length ? (
        <p class="quiet">
          The {messagesMax} newest of {said.length} messages; all are in the JSON.
        </p>
      ) : null}
      {shown.map((message) => (
        <MessageView message={message} isDrawn={isDrawn(message.answer)} />
      ))}
      {answers?.map((answer) => (
        <>
          <p class="side">Answer</p>
          <AnswerView answer={cutAnswer(answer)} isCommand={!isDrawn(answer)} />
        </>
      )) ?? <p class="quiet">No text came back.</p>}
    </div>
  )
}

/** Finds the newest answers whose Markdown is drawn; older ones are shown as they came. */
function drawnFrom(answers: readonly Answer[]) {
  const drawn = new Set<Answer>()
  let left = drawnMax
  for (const answer of answers.toReversed()) {
    left -= Math.min(answer.text.length, shownMax)
    if (left < 0) break
    drawn.add(answer)
  }
  return { isDrawn: (answer: Answer): boolean => drawn.has(answer) }
}

const sides = new Map([
  ['user', 'You'],
  ['assistant', 'Answer'],
  ['system', 'System'],
  ['developer', 'System'],
])

type MessageProps = { message: SaidMessage; isDrawn: boolean }

const MessageView = ({ message: { role, answer }, isDrawn }: MessageProps) => (
  <>
    <p class="side">{sides.get(role) ?? role}</p>
    {role === 'assistant' ? (
      <AnswerView answer={cutAnswer(answer)} isCommand={!isDrawn} />
    ) : (
      <p class={role === 'user' ? 'you' : 'quiet told'}>{cut(answer.text)}</p>
    )}
  </>
)

const cutAnswer = ({ text, reasoning, calls, images }: Answer): Answer => ({
  text: cut(text),
  reasoning: cut(reasoning),
  calls: calls.map((call) => ({ ...call, input: cut(call.input) })),
  images,
})

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
