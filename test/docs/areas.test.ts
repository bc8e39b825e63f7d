import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv/dist/2020'
import { areas } from '../../src/front/reference/areas.ts'
import { openApiOf, openApiOfArea } from '../../src/front/reference/document.ts'
import { refusals } from '../../src/kernel/refusal.ts'
import type { Schema } from '../../src/web/http/json-schema.ts'
import { promise } from '../support/promise.ts'
import { type World, world } from '../support/world.ts'

const whole = openApiOf({ baseUrl: 'https://gw.example', version: '1.2.3' })
const documents = areas.map((area) => [area.id, openApiOfArea(whole, area)] as const)
const all = [['the whole', whole] as const, ...documents]

type Media = { schema: Schema; examples?: Record<string, { value?: unknown; $ref?: string }> }
type Answer = { $ref?: string; content?: Record<string, Media> }
type Described = { operationId: string; requestBody?: Answer; responses: Record<string, Answer> }

const operationsOf = ({ paths }: Pick<typeof whole, 'paths'>) =>
  Object.values(paths).flatMap((methods) => Object.values(methods) as unknown as Described[])

/** What a reference leads to; everything else as it is. */
function at(document: object, value: { $ref?: string }): unknown {
  if (value.$ref === undefined) return value
  let found: unknown = document
  for (const step of value.$ref.split('/').slice(1)) found = (found as Schema)[step]
  return found
}

/** What Anthropic's API says in the place of our 503 of an overloaded model server. */
const statusAs = (status: string): number => (status === '529' ? 503 : Number(status))

describe('each document', () => {
  promise`A21 H: Each area of the reference is one document of less than 60 kB that needs no other,
    and types every error; refusals have the metadata that it describes.`
  test.each(documents)('%s has less than 60 kB', (_, document) => {
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(60_000)
  })

  test.each(all)('%s is valid OpenAPI 3.1', async (_, document) => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect([errors ?? [], valid]).toEqual([[], true])
  })

  promise`A21`
  test.each(all)('%s has all that it refers to, and nothing else', (_, document) => {
    const text = JSON.stringify(document)
    const named = new Set(text.match(/#\/components\/\w+\/[^"]+/g))
    expect([...named].filter(($ref) => at(document, { $ref }) === undefined)).toEqual([])
    const { securitySchemes, ...components } = document.components
    const secured = JSON.stringify(document.paths)
    expect(
      Object.keys(securitySchemes).filter((name) => !secured.includes(`{"${name}":[]}`)),
    ).toEqual([])
    const there = Object.entries(components).flatMap(([kind, of]) =>
      Object.keys(of as object).map((name) => `#/components/${kind}/${name}`),
    )
    expect(there.filter((name) => !named.has(name))).toEqual([])
  })

  promise`A21`
  test.each(all)(
    '%s types each refusal: what it is, and what its metadata holds',
    (_, document) => {
      for (const { operationId, responses } of operationsOf(document)) {
        for (const [status, answer] of Object.entries(responses)) {
          if (Number(status) < 400) continue
          const { content = {} } = at(document, answer) as Answer
          const { schema } = content['application/json'] as Media
          const schemas = (schema['anyOf'] ?? [schema]) as { $ref: string }[]
          const types = schemas.map((one) => {
            const text = JSON.stringify(at(document, one))
            return [...text.matchAll(/"type":\{"const":"(\w+)"\}/g)].map(([, type]) => type).at(-1)
          })
          const known: number[] = types.map((type) => refusals[type as keyof typeof refusals]?.[0])
          expect([operationId, known]).toEqual([operationId, types.map(() => statusAs(status))])
        }
      }
    },
  )

  test.each(all)('%s has examples that its schemas describe', (_, document) => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const id = 'https://gw.example/document'
    ajv.addSchema({ $id: id, components: document.components })
    let checked = 0
    for (const operation of operationsOf(document)) {
      for (const answer of [operation.requestBody ?? {}, ...Object.values(operation.responses)]) {
        const { content = {} } = at(document, answer) as Answer
        for (const { schema, examples = {} } of Object.values(content)) {
          // To compile a schema takes most of the time.
          if (Object.keys(examples).length === 0) continue
          const text = JSON.stringify(schema).replaceAll('"#/', `"${id}#/`)
          const check = ajv.compile(JSON.parse(text))
          for (const example of Object.values(examples)) {
            const { value } = at(document, example) as { value: unknown }
            check(value)
            expect([operation.operationId, check.errors ?? []]).toEqual([operation.operationId, []])
            checked++
          }
        }
      }
    }
    expect(checked).toBeGreaterThan(0)
  })

  test('The areas together have every operation once.', () => {
    const ids = documents.flatMap(([, one]) => operationsOf(one)).map((one) => one.operationId)
    const every = operationsOf(whole).map((one) => one.operationId)
    expect(ids.toSorted()).toEqual(every.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('of a server', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
  })
  afterAll(() => w.stop())

  test('GET /openapi/:file needs no key, and answers 304 to the same ETag.', async () => {
    for (const area of areas) {
      const answer = await w.call(`/openapi/${area.id}.json`)
      expect([area.id, answer.status]).toEqual([area.id, 200])
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      const { version } = w.deps.version
      const document = openApiOf({ baseUrl: w.origin, version })
      expect(await answer.text()).toBe(JSON.stringify(openApiOfArea(document, area)))
      const etag = answer.headers.get('etag') ?? ''
      const headers = { 'if-none-match': etag }
      const again = await w.call(`/openapi/${area.id}.json`, { headers })
      expect([again.status, await again.text()]).toEqual([304, ''])
    }
  })

  test.each(['none.json', 'keys', '.json', 'keys.json.json'])(
    'GET /openapi/%s is a 404 that names the areas.',
    async (file) => {
      const answer = await w.call(`/openapi/${file}`)
      expect(answer.status).toBe(404)
      const { error } = await answer.json()
      expect(error.type).toBe('not_found')
      expect(areas.filter(({ id }) => !error.message.includes(id))).toEqual([])
    },
  )

  test('Every page of /docs is there as Markdown, and says so.', async () => {
    for (const path of ['/docs', ...areas.map(({ id }) => `/docs/${id}`)]) {
      const page = await (await w.call(path, { headers: { accept: 'text/html' } })).text()
      const link = `<link rel="alternate" type="text/markdown" href="${path}.md">`
      expect([path, page.includes(link)]).toEqual([path, true])
      const answer = await w.call(`${path}.md`)
      expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(answer.headers.get('etag')).toBeString()
      const text = await answer.text()
      expect(text).toStartWith('# ')
      expect(/undefined|\[object/.exec(text)).toBeNull()
    }
  })

  test('The Markdown of an area has its routes, its schemas and its commands.', async () => {
    for (const area of areas) {
      const text = await (await w.call(`/docs/${area.id}.md`)).text()
      const wanted = [
        ...area.operations.flatMap(({ title, route }) => [`## ${title}\n`, `\`${route}\``]),
        ...Object.keys(area.schemas).map((name) => `### ${name}\n`),
      ]
      expect(wanted.filter((words) => !text.includes(words))).toEqual([])
      expect(text).toContain(w.origin)
    }
  })

  test('A missing page is a 404, as Markdown too.', async () => {
    expect((await w.call('/docs/none.md')).status).toBe(404)
    expect((await w.call('/docs/.md')).status).toBe(404)
  })
})
