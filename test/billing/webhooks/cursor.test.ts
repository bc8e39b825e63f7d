import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createWebhook, testWebhook } from '../../../src/billing/webhooks/webhooks.ts'
import { newAccount } from '../../ledger/office.ts'
import { engines, type World, world } from '../../support/world.ts'

describe.each(engines)('the list of deliveries of a webhook, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine })
    w.deps.isWebhookTarget = () => true
  }, 60_000)
  afterAll(() => w.stop())

  /** An endpoint with three deliveries, and a reader of its list. */
  const endpoint = async () => {
    const account = newAccount()
    const { secret } = await w.key({ account, scopes: ['webhooks:write'] })
    const asker = { account, actor: 'test' }
    const { row } = await createWebhook(w.deps, asker, { url: 'https://example.com/' })
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.push((await testWebhook(w.deps, asker, row.id)).id)
    const list = (after: string) =>
      w.call(`/v1/webhooks/${row.id}/deliveries?limit=2&after=${after}`, { key: secret })
    return { ids, list }
  }

  test('goes on behind a delivery of its own, and refuses those of others alike', async () => {
    const [one, other] = [await endpoint(), await endpoint()]
    const own = await one.list(one.ids[2] ?? '')
    expect([own.status, (await own.json()).data.length]).toEqual([200, 2])
    const unknown = w.deps.ids.make('dlv')
    const told = async (after: string) => {
      const answer = await one.list(after)
      const { error } = await answer.json()
      return [answer.status, error.type, error.param, error.message]
    }
    expect(await told(other.ids[0] ?? '')).toEqual(await told(unknown))
    expect((await told(unknown)).slice(0, 3)).toEqual([400, 'invalid_request', 'after'])
  })
})
