/** How an area of the reference is written: one entry a route, with the shapes of its room. */
import * as t from '../../web/http/shape.ts'
import type { Answer, Area, Example, Operation } from './operation.ts'

/** An entry before its shapes are spelled as JSON Schema. */
export type Entry = Operation<t.TSchema>

type Rest = Omit<Entry, 'id' | 'route' | 'title' | 'examples'> & { examples?: readonly Example[] }

/** Without examples: one that is answered 200, with the sample of each parameter of the path. */
export const operation = (
  id: string,
  route: Entry['route'],
  title: string,
  { examples, ...rest }: Rest,
): Entry => ({
  id,
  route,
  title,
  ...rest,
  examples: examples ?? [{ name: title, ...samplesOf(rest.path), status: 200 }],
})

const samplesOf = (path: Rest['path']): { path?: Record<string, string> } =>
  path === undefined
    ? {}
    : { path: Object.fromEntries(Object.entries(path).map(([name, of]) => [name, sampleOf(of)])) }

const sampleOf = ({ examples }: t.TSchema): string => String(examples?.[0])

export const area = (
  id: string,
  group: Area['group'],
  title: string,
  rest: { about: string; operations: readonly Entry[] },
): Area<t.TSchema> => ({ id, group, title, schemas: {}, ...rest })

export const json = (schema: t.TSchema): Answer<t.TSchema>['content'] => ({
  'application/json': { schema },
})

/** The usual answer. */
export const ok = (
  about: string,
  schema: t.TSchema,
  headers?: Answer<t.TSchema>['headers'],
): Answer<t.TSchema> => ({
  status: 200,
  about,
  content: json(schema),
  ...(headers ? { headers } : {}),
})

/** A text format other than JSON: its media type and a sample. */
export const media = (
  type: string,
  about: string,
  sample: string,
): Answer<t.TSchema>['content'] => ({
  [type]: { schema: t.text(about, ''), sample },
})

/** Server-sent events, each with JSON of that shape as its data, and a sample of the stream. */
export const events = (data: t.TSchema, sample: string): Answer<t.TSchema>['content'] => ({
  'text/event-stream': {
    schema: t.text('Server-sent events; `contentSchema` is of the data of each.', '', {
      contentMediaType: 'application/json',
      contentSchema: data,
    }),
    sample,
  },
})

/** The parameters of a list; `after` is the id of an item. */
export const pageQuery = (after: string) => ({
  limit: t.integer('How many, 20 if absent.', 20, { minimum: 1, maximum: 100 }),
  after: t.text('`last_id` of the page before.', after),
})
