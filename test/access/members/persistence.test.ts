import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { errorType } from '../../docs/answers.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { accepted, invited, jsonOf, member, type Person, person } from './people.ts'

setDefaultTimeout(60_000)

const newKey = { name: 'a key', cap: { limit_nusd: Number(usd) } }

describe.each(engines)('what a member cannot keep or reach on %s', (engine) => {
  let w: World
  let owner: Person
  beforeAll(async () => {
    w = await world({ engine })
    owner = await person(w)
  })
  afterAll(() => w.stop())

  test('The open links of an owner who is removed die with the membership, those of others stay.', async () => {
    const second = await member(w, owner, 'owner')
    const [theirs, mine] = [await invited(second, 'owner'), await invited(owner, 'viewer')]
    const path = `/api/portal/members/${second.wallet}/remove`
    expect((await owner.own.call(path, { json: {} })).status).toBe(200)
    const [sock, guest] = [await person(w), await person(w)]
    expect((await accepted(sock, theirs)).status).toBe(404)
    expect((await accepted(guest, mine)).status).toBe(200)
    const { members } = await jsonOf(owner.own.call('/api/portal/members'))
    const roles = members.map(({ role }: { role: string }) => role)
    expect(roles).toEqual(['viewer'])
  })

  test('A key of a developer cannot reach the whole account, even with all scopes.', async () => {
    const dev = await member(w, owner, 'developer')
    const scopes = ['runs:write', 'runs:read', 'keys:mint', 'keys:read', 'webhooks:write']
    const { secret, id } = await jsonOf(
      dev.own.call('/api/portal/keys', { json: { ...newKey, scopes } }),
    )
    expect(secret).toStartWith('sk-service-')
    const call = (path: string, json?: object, method = json ? 'POST' : 'GET') =>
      w.call(path, { key: secret, method, ...(json ? { json } : {}) })
    const url = 'https://example.com/hook'
    for (const answer of [
      await call('/v1/webhooks'),
      await call('/v1/webhooks', { url }),
      await call('/v1/alerts'),
      await call('/v1/alerts', { balance_low_nusd: 1 }, 'PATCH'),
    ]) {
      expect(await errorType(answer)).toBe('scope_denied')
    }
    const { parent_id: branch } = await jsonOf(dev.own.call(`/api/portal/keys/${id}`))
    for (const path of [`/v1/keys/${branch}`, `/v1/keys/${branch}/rotate`]) {
      const isRead = path.endsWith(branch)
      expect((await call(path, isRead ? undefined : {})).status).toBe(404)
    }
    // The limits of the branch are the owner's, by each route and method.
    const wide = { cap: { limit_nusd: Number(1000n * usd) } }
    for (const method of ['PATCH', 'POST']) {
      const answer = await dev.own.call(`/api/portal/keys/${branch}`, { method, json: wide })
      expect(await errorType(answer)).toBe('role_denied')
    }
    const more = { ...newKey, scopes, cap: { limit_nusd: Number(2n * usd) } }
    expect((await call('/v1/keys', more)).status).toBe(400)
  })
})
