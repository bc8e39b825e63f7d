/** How entries of the reference are written: what a route's path says is not said again. */
import type { RefusalType } from '../../kernel/refusal.ts'
import { declareQuery, pageFields } from '../http/query-fields.ts'
import * as t from '../http/shape.ts'
import type { Access, Answer as AnswerOf, Area, Example, Operation } from './operation.ts'

/** An entry before its shapes are spelled as JSON Schema. */
export type Entry = Operation<t.TSchema>
type Answer = AnswerOf<t.TSchema>
type Content = Answer['content']

/** Members that the entries under a path share. */
type SharedEntry = {
  /** Default: `admin` and `session` under the paths of the dashboard, `none` elsewhere. */
  access?: Access
  /** Parameters of the paths; an entry has those that its own path names. */
  path?: Readonly<Record<string, t.TSchema>>
  /** In examples in place of the samples of these parameters. */
  samples?: Readonly<Record<string, string>>
  /** The refusal of an id that nothing has. */
  missing?: RefusalType
}

/** The default status is that of the first answer, the default path has the samples. */
type ShortExample = Omit<Example, 'status'> & { status?: number }

type Words = SharedEntry & {
  about: string
  query?: Entry['query']
  /** A shape alone is also that of the form, where browsers send one. */
  body?: t.TSchema | NonNullable<Entry['body']>
  isIdempotent?: true
  /** A text is the name of one. Default: its title, or a first page. */
  examples?: readonly (string | ShortExample)[]
  answers: Answer | readonly Answer[]
  /** A path with parameters also refuses with `not_found`, unless this names one of its kind. */
  refuses?: readonly RefusalType[]
}

/** Gives what writes the entries of routes under a path, one function a method. */
export const entriesUnder = (base: string, shared: SharedEntry = {}) => {
  const by = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE') => {
    return (id: string, path: string, title: string, words: Words): Entry =>
      entryOf({ id, route: `${method} ${base as '/'}${path}`, title }, { ...shared, ...words })
  }
  return { get: by('GET'), post: by('POST'), patch: by('PATCH'), remove: by('DELETE') }
}

function entryOf(named: Pick<Entry, 'id' | 'route' | 'title'>, words: Words): Entry {
  const { missing = 'not_found', path: known = {}, samples = {}, refuses = [], ...rest } = words
  const [, route = ''] = named.route.split(' ')
  const parameters = Object.entries(known).filter(([name]) => route.includes(`:${name}`))
  const hasPath = parameters.length > 0
  const sample = parameters.map(([name, of]) => [name, samples[name] ?? sampleOf(of)] as const)
  const answers = [words.answers].flat() as readonly Answer[]
  const status = answers[0]?.status ?? 200
  const given = words.examples ?? [rest.query?.['limit'] ? firstPage : named.title]
  const isMissing = hasPath && !refuses.some((type) => type.endsWith('not_found'))
  return {
    access: accessAt(route),
    ...named,
    ...rest,
    ...(hasPath && { path: Object.fromEntries(parameters) }),
    body: words.body && bodyAt(route, words.body),
    examples: given.map((one) => ({
      status,
      ...(hasPath && { path: Object.fromEntries(sample) }),
      ...(typeof one === 'string' ? { name: one } : one),
    })),
    answers,
    refuses: isMissing ? [missing, ...refuses] : refuses,
  }
}

const accessAt = (route: string): Access => {
  if (route.startsWith('/api/portal/admin')) return 'admin'
  return route.startsWith('/api/portal/') ? 'session' : 'none'
}

const bodyAt = (route: string, body: NonNullable<Words['body']>): NonNullable<Entry['body']> => {
  if ('schema' in body) return body as NonNullable<Entry['body']>
  return route.startsWith('/api/') ? { schema: body, form: body } : { schema: body }
}

const sampleOf = ({ examples }: t.TSchema): string => String(examples?.[0])

const firstPage = { name: 'First page', query: { limit: '20' } }

/** Two examples that send the same members, as JSON and from a form. */
export const bothWays = (name: string, sent: Record<string, string>): ShortExample[] => [
  { name, body: sent },
  { name: 'From a form', form: sent },
]

export const area = (
  id: string,
  group: Area['group'],
  title: string,
  rest: { about: string; operations: readonly Entry[] },
): Area<t.TSchema> => ({ id, group, title, schemas: {}, ...rest })

export const json = (schema: t.TSchema): Content => ({ 'application/json': { schema } })

/** The usual answer. */
export const ok = (
  about: string,
  schema: t.TSchema,
  headers?: Answer['headers'],
  status = 200,
): Answer => ({ status, about, content: json(schema), ...(headers && { headers }) })

/** The answer to what made something. */
export const made = (about: string, schema: t.TSchema) => ok(about, schema, undefined, 201)

/** A text format other than JSON: its media type and a sample. */
export const media = (type: string, about: string, sample: string): Content => ({
  [type]: { schema: t.text(about, ''), sample },
})

/** Server-sent events, each with JSON of that shape as its data, and a sample of the stream. */
export const events = (data: t.TSchema, sample: string): Content => ({
  'text/event-stream': {
    schema: t.text('Server-sent events; `contentSchema` is of the data of each.', '', {
      contentMediaType: 'application/json',
      contentSchema: data,
    }),
    sample,
  },
})

/** The parameters of a list; `after` is the id of an item. */
export const pageQuery = (after: string) => declareQuery(pageFields(after)).parameters

export const goesOn = 'With a filter a page may be short: go on after its `last_id`.'

/** Sends a browser that wants a page (`Accept: text/html`) there. */
export const goesTo = (about: string): Answer => ({
  status: 303,
  about,
  headers: { Location: t.text('Path of a page.', '/dashboard') },
  content: {},
})

export const seeOther = goesTo('To a browser that wants a page: the page that shows it.')

const html = (about: string): Content => media('text/html', about, '')

/** JSON, or a fragment for htmx (`HX-Request: true`). */
export const shown = (about: string, schema: t.TSchema): Answer => ({
  ...ok(about, schema),
  content: { ...json(schema), ...html('The panel as a fragment of HTML, for htmx.') },
})

/** Answers of an action of the dashboard: JSON, a fragment for htmx, 303 to a plain form. */
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
  content: media(
    'text/event-stream',
    'Server-sent events.',
    'id: 10000000000-0\ndata: <p>…</p>\n\n',
  ),
})
