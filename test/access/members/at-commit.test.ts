import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { removeMember } from '../../../src/access/members/remove.ts'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { errorType } from '../../docs/answers.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { member, type Person, person } from './people.ts'

setDefaultTimeout(60_000)

describe.each(engines)('a membership that ends while a key is changed, on %s', (engine) => {
  let w: World
  let owner: Person
  beforeAll(async () => {
    w = await world({ engine, toml: '[limits]\nfailed_auth_per_minute = 1_000_000' })
    owner = await person(w)
    await w.key({ account: owner.wallet, balance: 100n * usd })
  })
  afterAll(() => w.stop())

  promise`T8 H: A removed member changes no key, however close the request is to the end of the
    membership.`
  test('A key stays as it was if the membership ends between the request and its commit.', async () => {
    const { key } = await w.key({ account: owner.wallet, name: 'kept' })
    const { key: paused } = await w.key({ account: owner.wallet, name: 'paused' })
    await pauseKey(w.deps, { keyId: paused.id, actor: 'test' })
    const { find } = w.deps.keys
    const console = 'console/cap'
    const asked: [path: string, init: { method?: string; json?: object }][] = [
      [console, { json: { cap: '2' } }],
      [`keys/${key.id}/pause`, { method: 'POST' }],
      [`keys/${key.id}/revoke`, { method: 'POST' }],
      [`keys/${key.id}/rotate`, { json: { overlap_seconds: 0 } }],
      [`keys/${key.id}`, { method: 'PATCH', json: { name: 'taken' } }],
      [`keys/${key.id}`, { method: 'PATCH', json: { cap: { limit_nusd: 5_000_000_000 } } }],
      [`keys/${paused.id}/resume`, { method: 'POST' }],
    ]
    const before = [await find(key.id), await find(paused.id)]
    for (const [path, init] of asked) {
      const one = await member(w, owner, 'owner')
      if (path === console) await one.own.call(`/api/portal/${path}`, { json: { cap: '1' } })
      // The guard of the route has let the request through when its key is read.
      w.deps.keys.find = async (id) => {
        w.deps.keys.find = find
        await removeMember(w.deps, ownerOf(owner.wallet), one.wallet)
        return find(id)
      }
      const answer = await one.own.call(`/api/portal/${path}`, init)
      w.deps.keys.find = find
      expect([path, answer.status, await errorType(answer)]).toEqual([
        path,
        401,
        'session_required',
      ])
    }
    expect([await find(key.id), await find(paused.id)]).toEqual(before)
  })
})
