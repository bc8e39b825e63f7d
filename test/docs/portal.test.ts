import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { suspendAccount } from '../../src/front/admin/suspend.ts'
import { operations as everyOperation } from '../../src/front/reference/areas.ts'
import {
  type Example,
  hasSession,
  isForBrowsers,
  methodOf,
  type Operation,
  refusalsOf,
} from '../../src/web/reference/operation.ts'
import { browser, signInWith } from '../access/accounts/wallet.ts'
import { type Depositing, depositingWorld, tomlOf } from '../billing/deposits/depositing.ts'
import { type StubChain, stubChain } from '../billing/deposits/stub-chain.ts'
import { soldPlansToml } from '../support/plans.ts'
import { promise } from '../support/promise.ts'
import { pricedBuiltins } from '../support/runs.ts'
import { errorType, faultsIn } from './answers.ts'
import { bodyOf } from './fixtures.ts'
import { makePerson, type Person, sendAs } from './portal-fixtures.ts'

setDefaultTimeout(60_000)

let chain: StubChain
let w: Depositing
beforeAll(async () => {
  chain = stubChain()
  const more = `${pricedBuiltins}
[limits]
body_bytes = 4_194_304
failed_auth_per_minute = 1_000_000
keyless_per_minute = 1_000_000
session_per_minute = 1_000_000
`
  w = await depositingWorld({
    url: chain.url,
    toml: `${tomlOf([chain.url])}${soldPlansToml}${more}`,
  })
  // Nothing is read again from a file here; what an operator is answered is the same.
  w.deps.reload.again = async () => ({ changed: ['limits.rpm'], restart: [] })
  await w.look()
})
afterAll(async () => {
  await w.stop()
  await chain.stop()
})

const person = (operation: Operation) => makePerson({ w, chain }, operation)
const operations = everyOperation.filter(isForBrowsers)
const named = (of: readonly Operation[]) => of.map((one) => [one.route, one] as const)
const first = ({ examples: [example] }: Operation): Example => {
  if (!example) throw new Error('an operation without an example')
  return example
}
const examples = operations.flatMap((operation) =>
  operation.examples.map((example) => ({ operation, example })),
)
const titled = examples.map((one) => [`${one.operation.route}: ${one.example.name}`, one] as const)
const changing = operations.filter((one) => methodOf(one) !== 'GET')
const withBody = named(operations.filter(({ body }) => body))
const withForm = named(operations.filter(({ body }) => body?.form))
const signedIn = named(operations.filter(hasSession))
/** A form where there is one: what people send. */
const byHand = ({ examples: all }: Operation): Example =>
  all.find(({ form }) => form) ?? (all[0] as Example)

promise`A14`
describe('every example of the dashboard API is answered as it says', () => {
  test.each(titled)('%s', async (_, { operation, example }) => {
    const answer = await sendAs(await person(operation), operation, example)
    expect(answer.status).toBe(example.status)
    if (answer.ok) expect(await faultsIn(operation, answer)).toEqual([])
    else expect(refusalsOf(operation)).toContain((await errorType(answer)) as never)
  })

  const faces = [
    ['htmx', { 'hx-request': 'true', accept: '*/*' }],
    ['a browser that wants a page', { accept: 'text/html' }],
  ] as const
  for (const [who, headers] of faces) {
    test.each(named(operations))(`%s answers ${who} as it says`, async (_, operation) => {
      const example = byHand(operation)
      const answer = await sendAs(await person(operation), operation, example, { headers })
      if (example.status < 400) {
        expect(await faultsIn(operation, answer)).toEqual([])
      } else {
        const media = answer.headers.get('content-type')
        expect([answer.status, media]).toEqual([example.status, 'text/html; charset=utf-8'])
      }
    })
  }
})

promise`A19`
describe('what the dashboard API refuses is described', () => {
  // What is refused changes nothing: these two are enough.
  let shared: Person
  let suspended: Person
  beforeAll(async () => {
    const [operation] = operations
    if (!operation) throw new Error('a reference without operations')
    suspended = await person(operation)
    const wish = { account: suspended.account, reason: 'test', actor: 'operator' }
    await suspendAccount(w.deps, wish)
    shared = await person(operation)
  })
  const sharedPerson = (): Person => {
    w.deps.settings.admins = [shared.account]
    return shared
  }
  const sendSignedOut = async (operation: Operation, headers: Record<string, string>) => {
    const found = sharedPerson()
    return sendAs(found, operation, first(operation), { headers, from: browser(w) })
  }

  test.each(signedIn)('%s without a session', async (_, operation) => {
    const answer = await sendSignedOut(operation, {})
    expect([answer.status, await errorType(answer)]).toEqual([401, 'session_required'])
    expect(refusalsOf(operation)).toContain('session_required')
  })

  test.each(named(changing))('%s from another origin', async (_, operation) => {
    const found = sharedPerson()
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
    ] as Record<string, string>[]) {
      const answer = await sendAs(found, operation, first(operation), { headers })
      expect([answer.status, await errorType(answer)]).toEqual([403, 'csrf_failed'])
    }
    expect(refusalsOf(operation)).toContain('csrf_failed')
  })

  test.each(signedIn)('%s of a suspended account', async (_, operation) => {
    const found = suspended
    w.deps.settings.admins = [found.account]
    const answer = await sendAs(found, operation, first(operation))
    const expected = operation.access === 'admin' ? [404, 'not_found'] : [403, 'account_suspended']
    expect([answer.status, await errorType(answer)]).toEqual(expected as never)
    expect(refusalsOf(operation)).toContain(expected[1] as never)
  })

  const operated = named(operations.filter(({ access }) => access === 'admin'))
  test.each(operated)('%s by a wallet that is not an operator', async (_, operation) => {
    const found = sharedPerson()
    const stranger = browser(w)
    await signInWith(stranger)
    const answer = await sendAs(found, operation, first(operation), { from: stranger })
    expect([answer.status, await errorType(answer)]).toEqual([404, 'not_found'])
  })

  const bodies = [
    ['broken JSON', { body: '{', type: 'application/json' }, 400, 'invalid_request'],
    ['another media type', { body: '{}', type: 'text/plain' }, 415, 'unsupported_media_type'],
    [
      'too much',
      { body: `"${'x'.repeat(5_000_000)}"`, type: 'application/json' },
      413,
      'payload_too_large',
    ],
    ['a list', { body: '[]', type: 'application/json' }, 400, 'invalid_request'],
  ] as const
  for (const [what, sent, status, type] of bodies) {
    test.each(withBody)(`%s with ${what}`, async (_, operation) => {
      const answer = await sendAs(sharedPerson(), operation, first(operation), sent)
      expect([answer.status, await errorType(answer)]).toEqual([status, type])
      expect(refusalsOf(operation)).toContain(type)
    })
  }

  test.each(withBody)('%s with a member it does not know', async (_, operation) => {
    const found = sharedPerson()
    const body = JSON.parse(
      bodyOf(first(operation), { secret: '', operator: '', ids: found.ids }) ?? '{}',
    )
    const sent = { body: JSON.stringify({ ...body, no_such_member: 1 }), type: 'application/json' }
    const answer = await sendAs(found, operation, first(operation), sent)
    expect([answer.status, await errorType(answer)]).toEqual([400, 'invalid_request'])
  })

  const form = 'application/x-www-form-urlencoded'
  const forms = [
    ['a field twice', 'once=1&once=2'],
    ['a zero byte', 'once=%00'],
  ] as const
  for (const [what, body] of forms) {
    test.each(withForm)(`%s with a form with ${what}`, async (_, operation) => {
      const sent = { body, type: form }
      const answer = await sendAs(sharedPerson(), operation, first(operation), sent)
      expect([answer.status, await errorType(answer)]).toEqual([400, 'invalid_request'])
    })
  }

  test.each(named(operations.filter(({ query }) => query)))(
    '%s with a parameter given twice',
    async (_, operation) => {
      const [name = ''] = Object.keys(operation.query ?? {})
      const twice = { ...first(operation), query: {} }
      const found = sharedPerson()
      const path = operation.path ? { path: first(operation).path ?? {} } : {}
      const route = `${operation.route}?${name}=1&${name}=2` as Operation['route']
      const answer = await sendAs(found, { ...operation, route }, { ...twice, ...path })
      expect([answer.status, await errorType(answer)]).toEqual([400, 'invalid_request'])
    },
  )

  test.each(named(operations.filter(({ path }) => path)))('%s of nothing', async (_, operation) => {
    const path = Object.fromEntries(Object.keys(operation.path ?? {}).map((name) => [name, 'none']))
    const answer = await sendAs(sharedPerson(), operation, { ...first(operation), path })
    const type = await errorType(answer)
    expect(answer.status).toBe(404)
    expect(refusalsOf(operation)).toContain(type as never)
  })

  test.each(titled.filter(([, { example }]) => example.body ?? example.form))(
    '%s with any text of 100,000 characters is answered, never a 500',
    async (_, { operation, example }) => {
      const found = sharedPerson()
      const fields = Object.entries(example.form ?? (example.body as object))
      for (const [name] of fields.filter(([, value]) => typeof value === 'string')) {
        for (const piece of ['*a', ' ', '0x', 'a.']) {
          const changed = {
            ...(example.form ?? (example.body as object)),
            [name]: piece.repeat(50_000),
          }
          const sent = example.form
            ? { ...example, form: changed as Record<string, string> }
            : { ...example, body: changed }
          const answer = await sendAs(found, operation, sent)
          expect([name, answer.status, answer.status < 500]).toEqual([name, answer.status, true])
          await answer.body?.cancel()
        }
      }
    },
  )
})

describe('an Idempotency-Key of the dashboard API', () => {
  const idempotent = named(operations.filter(({ isIdempotent }) => isIdempotent))
  const headers = { 'idempotency-key': 'one', accept: 'application/json' }

  promise`A20 H: A repeated subscription with the same Idempotency-Key gets the bytes of the first
    answer.`
  test.each(idempotent)('%s gives the same answer again', async (_, operation) => {
    const found = await person(operation)
    const once = await sendAs(found, operation, first(operation), { headers })
    const again = await sendAs(found, operation, first(operation), { headers })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const [told, retold] = [await once.json(), await again.json()]
    // A secret is stored nowhere, so that it cannot be told again.
    if ('secret' in told) told.secret = null
    expect([again.status, retold]).toEqual([once.status, told])
  })

  test.each(idempotent)('%s refuses it for another body', async (_, operation) => {
    const found = await person(operation)
    await sendAs(found, operation, first(operation), { headers })
    const other = operation.id === 'subscribePlan' ? '{"quoted_at":"2026-08-01T12:00:00Z"}' : '{}'
    const answer = await sendAs(found, operation, first(operation), { headers, body: other })
    expect([answer.status, await errorType(answer)]).toEqual([422, 'idempotency_mismatch'])
    expect(refusalsOf(operation)).toContain('idempotency_mismatch')
  })
})
