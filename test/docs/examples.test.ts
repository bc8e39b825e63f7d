import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { issueToken } from '../../src/access/operators/issue-token.ts'
import { operatorScopes } from '../../src/access/operators/token.ts'
import { operations as everyOperation } from '../../src/front/reference/areas.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import {
  anywhere,
  type Example,
  isForBrowsers,
  isKeyed,
  isOperated,
  methodOf,
  type Operation,
  pathOf,
  refusalsOf,
} from '../../src/web/reference/operation.ts'
import { promise } from '../support/promise.ts'
import { usd, type World, world } from '../support/world.ts'
import { errorType, faultsIn, refusalFaults } from './answers.ts'
import { bearerOf, bodyOf, type Fixtures, makeFixtures, urlOf } from './fixtures.ts'

const toml = `[[models]]
id = "counterfoil/echo-1"
input_pusd = 150_000
output_pusd = 600_000
terminal = true
[terminal]
asks_per_day = 1000
daily_budget_nusd = 1_000_000_000
[limits]
body_bytes = 4_194_304
`
/** What keys call; `portal.test.ts` asks the rest. */
const operations = everyOperation.filter((one) => !isForBrowsers(one))
let w: World
let fixtures: Fixtures
beforeAll(async () => {
  // Asks of the terminal are counted by network, and here all come from one.
  w = await world({ toml })
})
beforeEach(async () => {
  fixtures = await makeFixtures(w)
})
afterAll(() => w.stop())

/** Sends an example; with another body or content type if that is said. */
function send(
  operation: Operation,
  example: Example,
  { key, body, type = 'application/json' }: { key?: string; body?: string; type?: string } = {},
): Promise<Response> {
  const text = body ?? bodyOf(example, fixtures)
  return w.call(urlOf(pathOf(operation), example, fixtures), {
    method: methodOf(operation),
    ...(key === undefined ? {} : { key }),
    headers: { ...example.headers, ...(text === undefined ? {} : { 'content-type': type }) },
    ...(text === undefined ? {} : { body: text }),
  })
}

const first = ({ examples: [example] }: Operation): Example => {
  if (!example) throw new Error('an operation without an example')
  return example
}

const all = operations.flatMap((operation) =>
  operation.examples.map((example) => ({ operation, example })),
)
const titled = (of: typeof all) =>
  of.map((one) => [`${one.operation.route}: ${one.example.name}`, one] as const)

promise`A14 H: An answer has the members that are described, and no other.`
describe('every example is answered as it says, in the shape it says', () => {
  test.each(titled(all))('%s', async (_, { operation, example }) => {
    const isOpen = !isKeyed(operation) && !isOperated(operation)
    const asked = isOpen ? {} : { key: bearerOf(operation, fixtures) }
    const answer = await send(operation, example, asked)
    expect(answer.status).toBe(example.status)
    if (answer.ok) expect(await faultsIn(operation, answer)).toEqual([])
    else expect(refusalsOf(operation)).toContain((await errorType(answer)) as never)
  })

  promise`A14`
  test('what an owner sees of a receipt is described too', async () => {
    const operation = operations.find(({ id }) => id === 'showReceipt')
    if (!operation) throw new Error('it is not there')
    const answer = await send(operation, first(operation), { key: fixtures.secret })
    expect(await faultsIn(operation, answer)).toEqual([])
  })
})

const keyed = operations
  .filter((one) => isKeyed(one) || isOperated(one))
  .map((one) => [one.route, one] as const)
const scoped = keyed.filter(([, { access }]) => access.includes(':'))
const keyless = operations
  .filter((one) => !isKeyed(one) && !isOperated(one))
  .map((one) => [one.route, one] as const)
const withBody = operations.flatMap((one) => (one.body ? [[one.route, one] as const] : []))

const idempotent = operations.flatMap((one) =>
  one.isIdempotent ? [[one.route, one] as const] : [],
)

describe('an Idempotency-Key', () => {
  const sendAs = async (operation: Operation, id: string, body?: string) => {
    const text = body ?? bodyOf(first(operation), fixtures)
    const headers = { 'content-type': 'application/json', 'idempotency-key': id }
    const init = { method: 'POST', key: bearerOf(operation, fixtures), headers }
    const url = urlOf(pathOf(operation), first(operation), fixtures)
    return w.call(url, text === undefined ? init : { ...init, body: text })
  }

  test.each(idempotent)('%s gives the same answer again', async (_, operation) => {
    const once = await sendAs(operation, 'one')
    const again = await sendAs(operation, 'one')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const [told, retold] = [await once.json(), await again.json()]
    // A secret is stored nowhere, so that it cannot be told again.
    if ('secret' in told) told.secret = null
    expect([again.status, retold]).toEqual([once.status, told])
  })

  test.each(idempotent)('%s refuses it for another body', async (_, operation) => {
    await sendAs(operation, 'two')
    const other = `${bodyOf(first(operation), fixtures)} `
    const answer = await sendAs(operation, 'two', other)
    expect([answer.status, await errorType(answer)]).toEqual([422, 'idempotency_mismatch'])
    expect(refusalsOf(operation)).toContain('idempotency_mismatch')
  })
})

promise`A21`
describe('what is refused is described', () => {
  promise`A15`
  test.each(keyed)('%s without a key', async (_, operation) => {
    const answer = await send(operation, first(operation))
    expect(await refusalFaults(operation, answer.clone())).toEqual([])
    expect([answer.status, await errorType(answer)]).toEqual([401, 'invalid_key'])
    expect(refusalsOf(operation)).toContain('invalid_key')
  })

  test.each(scoped)('%s without its scope', async (_, operation) => {
    const none = { name: 'none', scopes: operatorScopes.slice(0, 1), lifeMs: 1000 }
    const isFirst = operation.access === `operator ${operatorScopes[0]}`
    const scopes = isFirst ? operatorScopes.slice(1, 2) : none.scopes
    const { secret } = isOperated(operation)
      ? await issueToken(w.deps, { ...none, scopes })
      : await w.key({ scopes: [] })
    const answer = await send(operation, first(operation), { key: secret })
    expect(await refusalFaults(operation, answer.clone())).toEqual([])
    expect([answer.status, await errorType(answer)]).toEqual([403, 'scope_denied'])
    expect(refusalsOf(operation)).toContain('scope_denied')
  })

  promise`A15`
  test.each(keyless)('%s does not ask for a key and ignores a bad one', async (_, operation) => {
    const answer = await send(operation, first(operation), { key: 'sk-service-no' })
    expect(answer.status).toBe(first(operation).status)
  })

  const bodies = [
    ['broken JSON', { body: '{' }, 400, 'invalid_request'],
    ['another media type', { body: '{}', type: 'text/plain' }, 415, 'unsupported_media_type'],
    ['too much', { body: `"${'x'.repeat(5_000_000)}"` }, 413, 'payload_too_large'],
  ] as const
  for (const [what, sent, status, type] of bodies) {
    test.each(withBody)(`%s with ${what}`, async (_, operation) => {
      const answer = await send(operation, first(operation), {
        key: bearerOf(operation, fixtures),
        ...sent,
      })
      expect(await refusalFaults(operation, answer.clone())).toEqual([])
      expect([answer.status, await errorType(answer)]).toEqual([status, type])
      expect(refusalsOf(operation)).toContain(type)
    })
  }

  promise`J8 H: No text makes a check take more than linear time.`
  test.each(titled(all.filter(({ example }) => example.body !== undefined)))(
    '%s with any text of 100,000 characters is answered, never a 500',
    async (_, { operation, example }) => {
      const sample = bodyOf(example, fixtures) ?? ''
      // One text after the other, each made of what slow patterns stumble over.
      for (const [i, { index, 0: text }] of [...sample.matchAll(/"[^"\\]*"(?!:)/g)].entries()) {
        const long = ['*a', ' ', '0x', 'a.'][i % 4]?.repeat(50_000)
        const body = `${sample.slice(0, index)}"${long}"${sample.slice(index + text.length)}`
        const answer = await send(operation, example, { key: bearerOf(operation, fixtures), body })
        expect([answer.status, answer.status < 500]).toEqual([answer.status, true])
        await answer.body?.cancel()
      }
    },
    30_000,
  )

  const lists = operations.flatMap((one) => (one.query ? [[one.route, one] as const] : []))
  test.each(lists)('%s with a parameter given twice', async (_, operation) => {
    const [name] = Object.keys(operation.query ?? {})
    const url = urlOf(pathOf(operation), { ...first(operation), query: {} }, fixtures)
    const answer = await w.call(`${url}?${name}=1&${name}=2`, {
      key: bearerOf(operation, fixtures),
    })
    expect([answer.status, await errorType(answer)]).toEqual([400, 'invalid_request'])
    expect(refusalsOf(operation)).toContain('invalid_request')
  })

  const named = operations.flatMap((one) => (one.path ? [[one.route, one] as const] : []))
  test.each(named)('%s of nothing', async (_, operation) => {
    const path = Object.fromEntries(Object.keys(operation.path ?? {}).map((name) => [name, 'none']))
    const example = { ...first(operation), path }
    const answer = await send(operation, example, { key: bearerOf(operation, fixtures) })
    expect(await refusalFaults(operation, answer.clone())).toEqual([])
    const type = await errorType(answer)
    expect(answer.status).toBe(404)
    expect(refusalsOf(operation)).toContain(type as never)
  })

  // The embedding model of this world costs nothing.
  const dear = operations.filter(
    (one) => refusalsOf(one).includes('cap_exceeded') && one.id !== 'createEmbedding',
  )
  test.each(dear.map((one) => [one.route, one] as const))(
    '%s above the cap or the balance says what lacks',
    async (_, operation) => {
      const account = `0x${Buffer.from(systemRandom().bytes(20)).toString('hex')}`
      const poor = await w.key({ account, balance: 1n })
      const capped = await w.key({ balance: usd, capLimit: 1n })
      for (const [key, type] of [
        [poor.secret, 'insufficient_balance'],
        [capped.secret, 'cap_exceeded'],
      ] as const) {
        const answer = await send(operation, first(operation), { key })
        expect(await refusalFaults(operation, answer.clone())).toEqual([])
        expect([answer.status, await errorType(answer)]).toEqual([402, type])
      }
    },
  )

  test('anything that is sent to another Host', async () => {
    const answer = await w.call('/v1/status', { headers: { host: 'evil.example' } })
    expect(answer.status).toBe(421)
    expect(anywhere).toContain((await errorType(answer)) as never)
  })
})
