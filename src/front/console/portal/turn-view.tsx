/** A message on the console page: its text and its files. */
import { isRaster } from '../../../models/answers/answer-parts.ts'
import { bytesIn, type SentFile, sizeText } from '../files.ts'

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
