/** The Markdown of an answer as elements, on the server. */
import { CopyCode } from '../../../web/ui/button.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { type Block, type Inline, readMarkdown } from '../markdown.ts'

/** An answer's text; the browser's `markdown.ts` makes the same of it as it comes. */
export const MarkdownView = ({ text }: { text: string }) => (
  <div class="it done">
    {readMarkdown(text).map((block) => (
      <BlockView block={block} />
    ))}
  </div>
)

function BlockView({ block }: { block: Block }) {
  switch (block.is) {
    case 'rule':
      return <hr />
    case 'code':
      return (
        <div class="code snippet">
          <pre tabindex="0">{block.text}</pre>
          <CopyCode />
        </div>
      )
    case 'list': {
      const items = block.items.map(({ depth, parts }) => (
        <li class={depth > 0 ? `deep${depth}` : undefined}>{shown(parts)}</li>
      ))
      return block.ordered ? <ol start={String(block.start)}>{items}</ol> : <ul>{items}</ul>
    }
    case 'heading':
      return (
        <p>
          <strong>{shown(block.parts)}</strong>
        </p>
      )
    case 'quote':
      return <blockquote>{shown(block.parts)}</blockquote>
    case 'p':
      return <p>{shown(block.parts)}</p>
  }
}

const shown = (parts: readonly Inline[]): Child => parts.map(inlineOf)

function inlineOf(part: Inline): Child {
  switch (part.is) {
    case 'text':
      return part.text
    case 'code':
      return <code>{part.text}</code>
    case 'strong':
      return <strong>{shown(part.parts)}</strong>
    case 'em':
      return <em>{shown(part.parts)}</em>
    case 'link':
      return (
        <a href={part.url} target="_blank" rel="noopener noreferrer nofollow">
          {shown(part.parts)}
        </a>
      )
  }
}
