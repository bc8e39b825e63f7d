/** A message and its answer on the console page: files, reasoning, text, calls of tools, images. */

import {
  type Answer,
  callTitle,
  hiddenImage,
  imageTitle,
  isRaster,
  prettyJson,
  reasoningTitle,
  type ToolCall,
} from '../answer-parts.ts'
import { bytesIn, type SentFile, sizeText } from '../files.ts'
import { MarkdownView } from './markdown-view.tsx'

type MessageProps = { input: string; files?: readonly SentFile[] | undefined }

/** The text of the person, below its files. */
export const Message = ({ input, files = [] }: MessageProps) => (
  <>
    {files.length === 0 ? null : (
      <ul class="bare sent" aria-label="Files sent">
        {files.map((file) => (
          <li>
            <Preview file={file} />
          </li>
        ))}
      </ul>
    )}
    <p class="you">{input}</p>
  </>
)

/** An image of the message, or the name of another file. */
export const Preview = ({ file: { name, data } }: { file: SentFile }) =>
  isRaster(data) ? (
    <img class="thumb" src={data} alt={name} />
  ) : (
    <span class="thumb">
      {name}, {sizeText(bytesIn(data.length))}
    </span>
  )

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
