import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { promise } from '../../support/promise.ts'
import { usd, type World, world } from '../../support/world.ts'

promise`B24`
describe('a value that cannot be taken', () => {
  let w: World
  let secret = ''
  beforeAll(async () => {
    w = await world({ now: Date.UTC(2026, 10, 21) })
    secret = (await w.key({ balance: usd, scopes: [...scopes] })).secret
  })
  afterAll(() => w.stop())

  test.each(['from=1', 'to=1', 'from=1&to=1'])(
    'GET /v1/anchors?%s says before the first checkpoint that there is none, and when to ask',
    async (query) => {
      const plain = await (await w.call('/v1/anchors')).json()
      expect([plain.log.checkpoint, plain.registry_log_id]).toEqual([null, null])
      const answer = await w.call(`/v1/anchors?${query}`)
      const { error } = await answer.json()
      expect([answer.status, error.type, error.param]).toEqual([
        400,
        'invalid_request',
        query.slice(0, query.indexOf('=')),
      ])
      expect(error.message).toStartWith('There is no checkpoint of this log yet')
      expect(error.message).toContain('ask again when "log.checkpoint" is there')
    },
  )

  const noTimes = [
    '2027-01-01T24:00:00Z',
    '2027-01-01T23:59:60Z',
    '2027-02-30T00:00:00Z',
    '2027-01-01T00:00:00',
    '2027-01-01 00:00:00Z',
    '2027-01-01T00:00Z',
    '2027-01-01T00:00:00+24:00',
  ]
  test.each(noTimes)('POST /v1/keys takes no expiry of %s', async (expires_at) => {
    const json = { name: 'child', cap: { limit_nusd: 1 }, expires_at }
    const answer = await w.call('/v1/keys', { key: secret, json })
    const { error } = await answer.json()
    expect([answer.status, error?.param]).toEqual([400, 'expires_at'])
  })

  test.each(noTimes)('GET /v1/usage takes no range from or to %s', async (time) => {
    for (const name of ['from', 'to']) {
      const path = `/v1/usage?${new URLSearchParams({ [name]: time })}`
      const answer = await w.call(path, { key: secret })
      const { error } = await answer.json()
      expect([answer.status, error?.param]).toEqual([400, name])
    }
  })
})
