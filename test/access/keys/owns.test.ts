import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { optionalCaller } from '../../../src/access/keys/api/optional-caller.ts'
import { owns } from '../../../src/access/keys/owns.ts'
import { type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w.stop())

test('A key owns what belongs to it and to keys below it, of its account alone', async () => {
  const { key: top } = await w.key()
  const { key } = await w.key({ parentId: top.id })
  const { key: under } = await w.key({ parentId: key.id })
  const [plan] = w.deps.plans.list
  if (!plan) throw new Error('no plan')
  const account = key.accountId
  const caller = { account, suspended: false, plan, chain: [key, top], key }
  const isOf = (keyId: string, accountId = account) => owns(w.deps, caller, { accountId, keyId })
  expect([await isOf(key.id), await isOf(under.id)]).toEqual([true, true])
  expect([await isOf(top.id), await isOf('key_none')]).toEqual([false, false])
  expect([await isOf(key.id, '0xother'), await isOf(under.id, '0xother')]).toEqual([false, false])
  // Its own needs no look at what is stored.
  const blind = { keys: { ...w.deps.keys, find: async () => undefined } }
  expect(await owns(blind, caller, { accountId: account, keyId: key.id })).toBe(true)
})

describe('a route that needs no key', () => {
  const callerOf = (headers: Record<string, string>) => {
    const request = new Request('http://localhost/', { headers })
    return optionalCaller(w.deps, { request, server: null }, 'runs:read')
  }

  test('A usable key gives its caller; any other key gives none', async () => {
    const { key, secret } = await w.key({ scopes: ['runs:read'] })
    const poor = await w.key({ scopes: ['keys:read'] })
    const bearer = (text: string) => callerOf({ authorization: `Bearer ${text}` })
    expect((await bearer(secret))?.key.id).toBe(key.id)
    const others = [callerOf({}), bearer('nonsense'), bearer(`${secret}x`), bearer(poor.secret)]
    expect(await Promise.all(others)).toEqual([undefined, undefined, undefined, undefined])
  })
})
