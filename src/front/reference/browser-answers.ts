/** Answers of dashboard routes to browsers and htmx, for the reference. */
import * as t from '../../web/http/shape.ts'
import { json, ok } from './entry.ts'
import type { Answer as AnswerOf } from './operation.ts'

type Answer = AnswerOf<t.TSchema>

/** How routes of the dashboard answer those who ask for no JSON. */

const html = (about: string): Answer['content'] => ({
  'text/html': { schema: t.text(about, ''), sample: '' },
})

/** The panel that changed, for htmx (`HX-Request: true`). */
const part = html('The panel as a fragment of HTML, for htmx.')

const location = { Location: t.text('Path of a page.', '/dashboard') }

/** Where a browser goes that wants a page (`Accept: text/html`). */
export const seeOther: Answer = {
  status: 303,
  about: 'To a browser that wants a page: the page that shows it.',
  headers: location,
  content: {},
}

/** JSON, or a fragment for htmx. */
export const shown = (about: string, schema: t.TSchema): Answer => ({
  ...ok(about, schema),
  content: { ...json(schema), ...part },
})

/** What an action answers: JSON, a fragment for htmx, 303 to a plain form. */
export const done = (about: string, schema: t.TSchema): readonly Answer[] => [
  shown(about, schema),
  seeOther,
]

/** JSON, or a whole page: to a plain form and to htmx. */
export const paged = (status: number, about: string, schema: t.TSchema): Answer => ({
  ...ok(about, schema),
  status,
  content: { ...json(schema), ...html('The page with the result.') },
})

/** A stream of fragments of a page, for as long as the session lasts. */
export const followed = (about: string): Answer => ({
  status: 200,
  about: `${about} Each message is the whole part as HTML; its \`id\` is the next \`mark\`.`,
  content: {
    'text/event-stream': {
      schema: t.text('Server-sent events.', ''),
      sample: 'id: 10000000000-0\ndata: <p>…</p>\n\n',
    },
  },
})
