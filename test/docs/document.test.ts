import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { changeBody, mintBody, rotateBody } from '../../src/access/keys/api/key-body.ts'
import { scopes } from '../../src/access/keys/key.ts'
import { operatorScopes } from '../../src/access/operators/token.ts'
import { createApp } from '../../src/app/routes.ts'
import { operations, schemas } from '../../src/front/reference/areas.ts'
import { openApiOf } from '../../src/front/reference/document.ts'
import { sampleOf } from '../../src/front/reference/sample.ts'
import { refusals } from '../../src/kernel/refusal.ts'
import { runBody } from '../../src/runs/api/run-body.ts'
import { wholeApp } from '../../src/web/http/lazy-mount.ts'
import { anywhere, refusalsOf } from '../../src/web/reference/operation.ts'
import { promise } from '../support/promise.ts'
import { type World, world } from '../support/world.ts'
import { makeChecker } from './checker.ts'
import { isApiRoute } from './served.ts'

const check = makeChecker()
const document = openApiOf({ baseUrl: 'https://gw.example', version: '1.2.3' })

/** Prints the modules that an app has loaded once it can serve programs. */
const listLoaded = `
  await import('${new URL('../../src/app/routes.ts', import.meta.url).pathname}')
  console.log(Object.keys(require.cache).join('\\n'))
`

type Parameters = { parameters?: { in: string; name: string }[] }

/** Everything in it, with the way to it. */
function* walk(node: unknown, path = ''): Generator<[path: string, node: object]> {
  if (typeof node !== 'object' || node === null) return
  yield [path, node]
  for (const [name, inner] of Object.entries(node)) yield* walk(inner, `${path}/${name}`)
}

describe('GET /openapi.json', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
  })
  afterAll(() => w.stop())

  test('is the document of this service, at its base URL, for any web page', async () => {
    const answer = await w.call('/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const { version } = w.deps.version
    expect(await answer.text()).toBe(JSON.stringify(openApiOf({ baseUrl: w.origin, version })))
  })

  test('is 304 to anyone who has it, compressed or not', async () => {
    const first = await w.call('/openapi.json', { headers: { 'accept-encoding': 'identity' } })
    const etag = first.headers.get('etag') ?? ''
    const again = await w.call('/openapi.json', { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const other = await w.call('/openapi.json', { headers: { 'if-none-match': '"other"' } })
    expect(other.status).toBe(200)
  })

  promise`A19 H: The document at /openapi.json has every API route that is served and no other, is
    valid OpenAPI 3.1, and names every error that a route of the dashboard refuses with.`
  test('has every API route that is served, and no other', async () => {
    const { routes } = await wholeApp(createApp(w.deps))
    const served = routes
      .filter(isApiRoute)
      .map(({ method, path }) => `${method} ${path.replace('/v1/models/*', '/v1/models/:id')}`)
    expect(operations.map(({ route }): string => route).toSorted()).toEqual(served.toSorted())
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const shapes = served.map((route) => route.replace(/:(\w+)/g, '{$1}'))
    expect(documented.toSorted()).toEqual(shapes.toSorted())
  })

  test('leaves out only routes that answer people: pages, and the files and forms of pages', async () => {
    const { routes } = await wholeApp(createApp(w.deps))
    const others = routes.filter((route) => route.method !== 'ALL' && !isApiRoute(route))
    expect(others.length).toBeGreaterThan(40)
    for (const { method, path } of others) {
      if (method !== 'GET' || path === '/log/*') continue
      const url = path.replaceAll(/:\w+/g, 'none')
      const answer = await w.call(url, { headers: { accept: 'text/html' }, redirect: 'manual' })
      const media = answer.headers.get('content-type')?.split(';')[0]
      await answer.body?.cancel()
      expect([path, media]).not.toEqual([path, 'application/json'])
    }
  })

  promise`A19`
  test('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect([errors ?? [], valid]).toEqual([[], true])
  })

  test('is made when it is first asked for: a start loads none of it', async () => {
    const { stdout } = Bun.spawnSync({
      cmd: [process.execPath, '-e', listLoaded],
      env: process.env,
    })
    const loaded = stdout.toString().split('\n')
    expect(loaded.filter((file) => file.includes('/src/web/http/'))).not.toEqual([])
    expect(loaded.filter((file) => /\/src\/.*reference(\/|\.ts$)/.test(file))).toEqual([])
    // Bodies are loaded, shapes of answers are not: views name them in types alone.
    const shapes = loaded.filter((file) => file.endsWith('/shapes.ts'))
    expect(shapes.map((file) => file.split('/src/')[1])).toEqual(['front/terminal/shapes.ts'])
  })
})

describe('the document', () => {
  test('names each operation once', () => {
    const ids = operations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z][a-zA-Z]+$/.test(id))).toEqual([])
  })

  test('has what every $ref names', () => {
    const named = [...walk(document)].flatMap(([path, node]) =>
      '$ref' in node && typeof node.$ref === 'string' ? [[path, node.$ref] as const] : [],
    )
    expect(named.length).toBeGreaterThan(100)
    const lost = named.filter(([, ref]) => {
      const [, ...steps] = ref.split('/')
      let at: unknown = document
      for (const step of steps) at = (at as Record<string, unknown> | undefined)?.[step]
      return at === undefined
    })
    expect(lost).toEqual([])
  })

  test('uses each of its schemas', () => {
    const text = JSON.stringify(document)
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
  })

  test('declares each parameter of a path, and only those', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      for (const operation of Object.values(methods)) {
        const { parameters = [] } = operation as unknown as Parameters
        const found = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
        expect([path, found]).toEqual([path, wanted])
      }
    }
  })

  test('says of every operation what it is for, whether it needs a key and how it can fail', () => {
    for (const methods of Object.values(document.paths)) {
      for (const operation of Object.values(methods)) {
        expect(operation).toMatchObject({
          operationId: expect.any(String),
          summary: expect.stringMatching(/./),
          description: expect.stringMatching(/./),
          security: expect.any(Array),
          responses: { 421: expect.anything(), 500: expect.anything() },
        })
      }
    }
  })

  test('names no scope but those that a key or a token can have', () => {
    const known: string[] = [...scopes, ...operatorScopes.map((scope) => `operator ${scope}`)]
    const named = operations.map(({ access }) => access).filter((access) => access.includes(':'))
    expect(named.filter((access) => !known.includes(access))).toEqual([])
  })

  test('has keyless routes that the contract names, and no other', () => {
    const keyless = operations
      .filter((one) => ['none', 'optional'].includes(one.access) && one.route.includes(' /v1/'))
      .map(({ route }): string => route)
    const contract = [
      'GET /v1/status',
      'GET /v1/signer',
      'GET /v1/models',
      'POST /v1/receipts/verify',
      'GET /v1/receipts/:id',
      'GET /v1/receipts/:id/proof',
      'GET /v1/explorer/stats',
      'GET /v1/explorer/recent',
      'POST /v1/terminal/run',
      'GET /v1/passports',
      'GET /v1/passports/:handle',
      'GET /v1/anchors',
    ]
    expect(keyless.filter((route) => !contract.includes(route))).toEqual([])
  })

  test('puts every money member in its unit, in words', () => {
    const silent = [...walk(document.components.schemas)].flatMap(([path, node]) => {
      const { description = '' } = node as { description?: string }
      if (/_nusd\??$/.test(path)) return /nano-USD/i.test(description) ? [] : [path]
      if (/_pusd\??$/.test(path)) return /pico-USD/i.test(description) ? [] : [path]
      return []
    })
    expect(silent).toEqual([])
  })

  test('uses each type of error that programs can meet', () => {
    const used = new Set([...operations.flatMap(refusalsOf), ...anywhere])
    const unused = Object.keys(refusals).filter((type) => !used.has(type as never))
    // Of every path, by a method that no route takes.
    expect(unused).toEqual(['method_not_allowed'])
  })

  test('takes each shape from the room that answers with it, and writes none of its own', async () => {
    const folder = `${import.meta.dir}/../../src`
    const own: string[] = []
    for await (const file of new Bun.Glob('**/*.{ts,tsx}').scan(folder)) {
      if (!/reference(\/|\.ts$)/.test(file)) continue
      const text = await Bun.file(`${folder}/${file}`).text()
      if (/\bt\.(object|closed|answer|body|page)\(|properties:/.test(text)) own.push(file)
    }
    // The error body is the same on every route, so the reference holds it.
    expect(own.toSorted()).toEqual([
      'front/reference/document-errors.ts',
      'front/reference/error-shapes.ts',
    ])
  })

  promise`A13`
  test('shows the body that the door checks', () => {
    const bodies = operations.flatMap(({ body }) => body?.schema['$ref'] ?? [])
    const named = (body: object) => `#/components/schemas/${(body as { $id?: string }).$id}`
    for (const body of [mintBody, changeBody, rotateBody, runBody]) {
      expect(bodies).toContain(named(body))
      const { properties, required } = schemas[named(body).split('/').at(-1) ?? ''] ?? {}
      expect(Object.keys(properties ?? {})).toEqual(Object.keys(body.properties))
      expect(required ?? []).toEqual(body.required ?? [])
    }
  })

  test.each(Object.keys(schemas))('the schema %s describes its own sample', (name) => {
    const schema = schemas[name] ?? {}
    expect(check(schema, sampleOf(schema, schemas))).toEqual([])
  })
})
