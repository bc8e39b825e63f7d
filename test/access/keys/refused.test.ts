import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { promise } from '../../support/promise.ts'
import { usd, type World, world } from '../../support/world.ts'

const now = Date.UTC(2026, 6, 15, 12)
const at = (days: number) => new Date(now + days * 86_400_000).toISOString()

/** What is wrong in a body that mints below a key capped at $5, and which field is named. */
const badRights: [what: string, body: object, param: string][] = [
  ['an empty name', { name: '' }, 'name'],
  ['a name of 65', { name: 'x'.repeat(65) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a zero byte', { name: 'a\0b' }, 'name'],
  ['a name that is a number', { name: 5 }, 'name'],
  ['a cap of 0', { cap: { limit_nusd: 0 } }, 'cap.limit_nusd'],
  ['a negative cap', { cap: { limit_nusd: -1 } }, 'cap.limit_nusd'],
  ['a cap as text', { cap: { limit_nusd: '5' } }, 'cap.limit_nusd'],
  ['a cap with a fraction', { cap: { limit_nusd: 1.5 } }, 'cap.limit_nusd'],
  ['no cap at all', { cap: {} }, 'cap.limit_nusd'],
  ['a cap above all balances', { cap: { limit_nusd: 9_000_000_000_000_001 } }, 'cap.limit_nusd'],
  ['a cap of 1e300', { cap: { limit_nusd: 1e300 } }, 'cap.limit_nusd'],
  ['a cap above the parent’s', { cap: { limit_nusd: 5_000_000_001 } }, 'cap.limit_nusd'],
  ['another field of the cap', { cap: { limit_nusd: 1, spent_nusd: 0 } }, 'cap.spent_nusd'],
  ['an expiry of null', { expires_at: null }, 'expires_at'],
  ['an expiry now', { expires_at: at(0) }, 'expires_at'],
  ['an expiry in the past', { expires_at: at(-1) }, 'expires_at'],
  ['an expiry after the parent’s', { expires_at: at(31) }, 'expires_at'],
  ['an expiry in seconds', { expires_at: 1_800_000_000 }, 'expires_at'],
  ['an expiry without a zone', { expires_at: '2026-08-01T00:00:00' }, 'expires_at'],
  ['an expiry on a day that is not', { expires_at: '2026-02-30T00:00:00Z' }, 'expires_at'],
  ['an expiry that is a word', { expires_at: 'never' }, 'expires_at'],
  ['a scope there is not', { scopes: ['runs:write', 'admin'] }, 'scopes'],
  ['a scope the parent lacks', { scopes: ['receipts:share'] }, 'scopes'],
  ['scopes that are a word', { scopes: 'runs:write' }, 'scopes'],
  ['a model the parent lacks', { models: ['acme/one', 'other'] }, 'models'],
  ['a glob beyond the parent’s', { models: ['*'] }, 'models'],
  ['an empty model', { models: [''] }, 'models'],
  ['65 models', { models: Array.from({ length: 65 }, (_, i) => `acme/${i}`) }, 'models'],
  ['a network beyond the parent’s', { ip_cidrs: ['10.0.0.0/7'] }, 'ip_cidrs'],
  ['a network of the other kind', { ip_cidrs: ['::/0'] }, 'ip_cidrs'],
  ['a network that is none', { ip_cidrs: ['10.0.0.0/33'] }, 'ip_cidrs'],
  ['requests of 0', { limits: { rpm: 0 } }, 'limits.rpm'],
  ['requests with a fraction', { limits: { rpm: 1.5 } }, 'limits.rpm'],
  ['runs at once of 0', { limits: { concurrency: 0 } }, 'limits.concurrency'],
  ['a run of 0', { limits: { max_cost_per_run_nusd: 0 } }, 'limits.max_cost_per_run_nusd'],
  ['a limit there is not', { limits: { rps: 1 } }, 'limits.rps'],
  ['nine tags', { tags: Object.fromEntries([...'123456789'].map((t) => [t, t])) }, 'tags'],
  ['a tag without a name', { tags: { '': 'x' } }, 'tags'],
  ['a tag that is a number', { tags: { a: 1 } }, 'tags.a'],
  ['a balance', { balance_nusd: 5 }, 'balance_nusd'],
  ['a secret of its own', { secret: 'sk-service-x' }, 'secret'],
  ['an account', { account: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' }, 'account'],
  ['a status', { status: 'usable' }, 'status'],
  ['a passport', { passport: 'me' }, 'passport'],
]

describe('400 invalid_request names the field', () => {
  let w: World
  let top: string
  let child: string
  beforeAll(async () => {
    w = await world({ now })
    const made = await w.key({
      balance: usd,
      capLimit: 5n * usd,
      expiresAt: now + 30 * 86_400_000,
      scopes: scopes.filter((scope) => scope !== 'receipts:share'),
      models: ['acme/*'],
      ipCidrs: ['10.0.0.0/8', '127.0.0.1', '::1'],
    })
    top = made.secret
    const json = { name: 'child', cap: { limit_nusd: 1000 } }
    child = (await (await w.call('/v1/keys', { key: top, json })).json()).id
  })
  afterAll(() => w.stop())

  const refusalOf = async (asked: Promise<Response>) => {
    const answer = await asked
    const { error } = await answer.json()
    return { status: answer.status, type: error.type, param: error.param }
  }

  promise`A13 C: No body sets an account, a balance, a state or a secret.`
  promise`D4`
  test.each(badRights)('of POST /v1/keys with %s', async (_, wrong, param) => {
    const json = { name: 'x', cap: { limit_nusd: 1 }, ...wrong }
    const refused = await refusalOf(w.call('/v1/keys', { key: top, json }))
    expect(refused).toEqual({ status: 400, type: 'invalid_request', param })
  })

  promise`A13`
  test.each(badRights)('of PATCH /v1/keys/:id with %s', async (_, wrong, param) => {
    const before = await (await w.call(`/v1/keys/${child}`, { key: top })).json()
    const call = { key: top, method: 'PATCH', json: wrong }
    const refused = await refusalOf(w.call(`/v1/keys/${child}`, call))
    expect(refused).toEqual({ status: 400, type: 'invalid_request', param })
    expect(await (await w.call(`/v1/keys/${child}`, { key: top })).json()).toEqual(before)
  })

  const onlyOnMint: typeof badRights = [
    ['no name', { cap: { limit_nusd: 1 } }, 'name'],
    ['no cap', { name: 'x' }, 'cap'],
    ['a window there is not', { name: 'x', cap: { limit_nusd: 1, window: 'year' } }, 'cap.window'],
    ['a parent of null', { name: 'x', cap: { limit_nusd: 1 }, parent_id: null }, 'parent_id'],
  ]
  promise`A13`
  promise`D4`
  test.each(onlyOnMint)('of POST /v1/keys with %s', async (_, json, param) => {
    const refused = await refusalOf(w.call('/v1/keys', { key: top, json }))
    expect(refused).toEqual({ status: 400, type: 'invalid_request', param })
  })

  const onlyOnPatch: typeof badRights = [
    ['another window', { cap: { limit_nusd: 1, window: 'day' } }, 'cap.window'],
    ['another parent', { parent_id: null }, 'parent_id'],
  ]
  promise`A13`
  test.each(onlyOnPatch)('of PATCH /v1/keys/:id with %s', async (_, json, param) => {
    const refused = await refusalOf(
      w.call(`/v1/keys/${child}`, { key: top, method: 'PATCH', json }),
    )
    expect(refused).toEqual({ status: 400, type: 'invalid_request', param })
  })

  test.each([-1, 604_801, 1.5, '60', null])(
    'of POST /v1/keys/:id/rotate with an overlap of %p',
    async (overlap) => {
      const json = { overlap_seconds: overlap }
      const refused = await refusalOf(w.call(`/v1/keys/${child}/rotate`, { key: top, json }))
      expect(refused).toEqual({ status: 400, type: 'invalid_request', param: 'overlap_seconds' })
    },
  )

  test('of a body that is not an object', async () => {
    for (const json of [[], 'x', 5, null]) {
      const refused = await refusalOf(w.call('/v1/keys', { key: top, json }))
      expect(refused).toEqual({ status: 400, type: 'invalid_request', param: null })
    }
  })
})
