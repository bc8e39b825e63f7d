/** An answer on a page: reasoning, text, calls of tools, images. */
import {
  type Answer,
  callTitle,
  hiddenImage,
  imageTitle,
  isRaster,
  prettyJson,
  reasoningTitle,
  type ToolCall,
} from '../answers/answer-parts.ts'
import { MarkdownView } from './markdown-view.tsx'

/** An answer. Folded parts open by a click or Enter. */
export const AnswerView = ({ answer, isCommand }: { answer: Answer; isCommand?: boolean }) => (
  <>
    {answer.reasoning === '' ? null : (
      <details class="aside">
        <summary>{reasoningTitle(answer.reasoning)}</summary>
        <p>{answer.reasoning}</p>
      </details>
    )}
    {answer.text === '' ? null : isCommand ? (
      <p class="it done told">{answer.text}</p>
    ) : (
      <MarkdownView text={answer.text} />
    )}
    {answer.calls.map((call) => (
      <CallView call={call} />
    ))}
    {answer.images.map((url, at) =>
      isRaster(url) ? (
        <img class="drawn" src={url} alt={imageTitle(at)} />
      ) : (
        <p class="it done">{hiddenImage(url)}</p>
      ),
    )}
  </>
)

const CallView = ({ call: { name, input } }: { call: ToolCall }) => (
  <details class="aside">
    <summary>
      {callTitle} <code>{name}</code>
    </summary>
    <pre>{prettyJson(input)}</pre>
  </details>
)
