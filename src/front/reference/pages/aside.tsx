/** The search and the index beside every page of the reference. */

import type { Area, Group } from '../../../web/reference/operation.ts'
import { areas } from '../areas.ts'
import { findInReference, questionMax, type SearchHit } from '../find.ts'
import { guidePath, guides } from '../guides.ts'
import { Marked } from './parts.tsx'

export const searchPath = '/docs/search'

/** The most places that are shown while a reader types; the page of the search has all. */
const quickMax = 8

type AsideProps = {
  /** The page that is shown: `/docs`, `/docs/keys`. */
  here: string
  /** The searched words. */
  asked?: string
}

/**
 * In view while the page scrolls, on a wide screen; on a phone the index folds. In the index the
 * current page has its parts below it.
 */
export const DocsAside = ({ here, asked }: AsideProps) => (
  <aside class="toc" aria-label="Search and index">
    <search>
      <form action={searchPath} method="get">
        <label class="vh" for="docs-q">
          Search the reference
        </label>
        <input
          class="in"
          id="docs-q"
          type="search"
          name="q"
          value={asked}
          maxlength={questionMax}
          placeholder="Search: a route, field or error"
          autocomplete="off"
          hx-get={searchPath}
          hx-trigger="input changed delay:150ms"
          hx-target="#docs-found"
          hx-sync="this:replace"
        />
        <button class="vh" type="submit">
          Search
        </button>
      </form>
      <div id="docs-found" aria-live="polite"></div>
    </search>
    <details>
      <summary>Index</summary>
      <Index here={here} />
    </details>
  </aside>
)

const Index = ({ here }: { here: string }) => (
  <nav aria-label="Reference">
    <ul class="bare">
      <Entry href="/docs" title="Start" here={here} parts={frontParts} />
      {guides.map(({ id, title }) => (
        <Entry href={guidePath(id)} title={title} here={here} parts={[]} />
      ))}
      <Chapters of="programs" here={here} />
      <li>
        <details open={areasOf('dashboard').some(({ id }) => here === `/docs/${id}`)}>
          <summary>Dashboard API</summary>
          <ul class="bare">
            <Chapters of="dashboard" here={here} />
          </ul>
        </details>
      </li>
    </ul>
  </nav>
)

export const areasOf = (group: Group): readonly Area[] =>
  areas.filter((area) => area.group === group)

type Part = { id: string; title: string }

/** The panels of the first page. */
const frontParts: readonly Part[] = [
  { id: 'guides', title: 'Guides' },
  { id: 'begin', title: 'Begin' },
  { id: 'everywhere', title: 'What holds everywhere' },
  { id: 'clients', title: 'Official clients' },
  { id: 'mcp', title: 'Tools (MCP)' },
  { id: 'errors', title: 'Errors' },
  { id: 'routes', title: 'All routes' },
]

const Chapters = ({ of, here }: { of: Group; here: string }) => (
  <>
    {areasOf(of).map(({ id, title, operations }) => (
      <Entry
        href={`/docs/${id}`}
        title={title}
        here={here}
        parts={[...operations, { id: 'schemas', title: 'Schemas' }]}
      />
    ))}
  </>
)

type EntryProps = { href: string; title: string; here: string; parts: readonly Part[] }

const Entry = ({ href, title, here, parts }: EntryProps) => (
  <li>
    <a href={href} aria-current={href === here ? 'page' : undefined}>
      {title}
    </a>
    {href === here ? (
      <ul class="bare parts">
        {parts.map(({ id, title }) => (
          <li>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    ) : null}
  </li>
)

/** The results while a reader types, in place of the index. */
export function QuickHits({ asked }: { asked: string }) {
  const hits = findInReference(asked)
  if (asked.trim() === '') return null
  if (hits.length === 0) return <p class="quiet">Nothing has all of these words.</p>
  return (
    <>
      <Hits of={hits.slice(0, quickMax)} asked={asked} />
      {hits.length > quickMax ? (
        <a class="btn small" href={`${searchPath}?q=${encodeURIComponent(asked)}`}>
          All {hits.length} places
        </a>
      ) : null}
    </>
  )
}

type HitsProps = { of: readonly SearchHit[]; asked: string; isWhole?: boolean }

/** Places, best first; whole ones with a part of their text. */
export const Hits = ({ of, asked, isWhole }: HitsProps) => (
  <ol class="bare hits">
    {of.map(({ href, title, kind, excerpt }) => (
      <li>
        <a href={href}>
          <Marked text={title} asked={asked} />
        </a>
        <code>
          <Marked text={kind} asked={asked} />
        </code>
        {isWhole && excerpt !== '' ? (
          <p class="quiet">
            <Marked text={excerpt} asked={asked} />
          </p>
        ) : null}
      </li>
    ))}
  </ol>
)
