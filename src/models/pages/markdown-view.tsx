/** Markdown as elements, on the server. */
import { CopyCode } from '../../web/ui/button.tsx'
import type { Child } from '../../web/ui/jsx-runtime.ts'
import { type Block, type Item, readMarkdown, tableName } from '../answers/markdown.ts'
import type { Inline } from '../answers/markdown-inline.ts'

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
          {block.language === '' ? null : <small>{block.language}</small>}
          <pre tabindex="0">{block.text}</pre>
          <CopyCode />
        </div>
      )
    case 'list': {
      const items = block.items.map((item) => <ItemView item={item} />)
      return block.ordered ? <ol start={String(block.start)}>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return <TableView table={block} />
    case 'heading':
      return (
        <p>
          <strong>{shown(block.parts)}</strong>
        </p>
      )
    case 'quote':
      return (
        <blockquote>
          {block.blocks.map((inner) => (
            <BlockView block={inner} />
          ))}
        </blockquote>
      )
    case 'p':
      return <p>{shown(block.parts)}</p>
  }
}

const ItemView = ({ item: { blocks, done } }: { item: Item }) => (
  <li class={done === undefined ? undefined : 'task'}>
    {done === undefined ? null : (
      <input type="checkbox" aria-label={done ? 'Done' : 'To do'} checked={done} disabled />
    )}
    {blocks.map((block, at) =>
      at === 0 && block.is === 'p' ? shown(block.parts) : <BlockView block={block} />,
    )}
  </li>
)

function TableView({ table: { align, head, rows } }: { table: Block & { is: 'table' } }) {
  const sideOf = (column: number) => align[column] || undefined
  return (
    <section class="scroll" tabindex="0" aria-label={tableName(head)}>
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th class={sideOf(column)} scope="col">
                {shown(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell, column) => (
                <td class={sideOf(column)}>{shown(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const shown = (parts: readonly Inline[]): Child => parts.map(inlineOf)

function inlineOf(part: Inline): Child {
  switch (part.is) {
    case 'text':
      return part.text
    case 'break':
      return <br />
    case 'code':
      return <code>{part.text}</code>
    case 'strong':
      return <strong>{shown(part.parts)}</strong>
    case 'em':
      return <em>{shown(part.parts)}</em>
    case 'del':
      return <del>{shown(part.parts)}</del>
    case 'link':
      return (
        <a href={part.url} target="_blank" rel="noopener noreferrer nofollow">
          {shown(part.parts)}
        </a>
      )
  }
}
