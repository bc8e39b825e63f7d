import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import { soldPlansToml } from '../../support/plans.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

/** With the twenty dollars of a plan 21 rows a day, and twice as many for changes of plans. */
const toml = '[limits]\nfree_writes_per_day = 1\n'
const most = 42

describe.each(engines)('changes of a plan that pay nothing, on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: Date.UTC(2026, 5, 1, 12), toml: toml + soldPlansToml })
  }, 60_000)
  afterAll(() => w.stop())

  async function subscriber() {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const account = wallet.address.toLowerCase()
    const own = browser(w)
    expect((await signInWith(own, wallet)).status).toBe(200)
    const fund = (amount: bigint) =>
      grantCredit(w.deps, { account, amount, reason: 'test', actor: 'test' })
    await fund(20n * usd)
    let calls = 0
    const post = async (path: string, isOnce = false) => {
      const headers: Record<string, string> = isOnce ? { 'idempotency-key': `call-${++calls}` } : {}
      const init = { json: {}, headers }
      const answer = await own.call(`/api/portal/plans/${path}`, init)
      return { status: answer.status, headers: answer.headers, body: await answer.json() }
    }
    expect((await post('builder/subscribe')).status).toBe(200)
    const audits = async () =>
      (await w.deps.admin.audit({ account, limit: 100, after: undefined })).items.length
    return { post, fund, audits }
  }
  type Post = Awaited<ReturnType<typeof subscriber>>['post']

  async function alternate(post: Post, paths: readonly string[], isOnce = false) {
    for (let i = 0; i < 3 * most; i++) {
      const answer = await post(paths[i % paths.length] ?? '', isOnce)
      if (answer.status !== 200) return answer
    }
    return undefined
  }

  promise`T3`
  test.each([
    ['a cancellation and a keep', ['free/subscribe', 'builder/subscribe']],
    ['a cancellation and its return', ['cancel', 'resume']],
    ['a keep after a cancellation', ['cancel', 'builder/subscribe']],
  ])('%s in turns end with 429 once the budget of free writes is used up', async (_, paths) => {
    const { post, fund, audits } = await subscriber()
    const refused = await alternate(post, paths)
    expect([refused?.status, refused?.body.error.metadata]).toEqual([
      429,
      { limited_by: 'free_writes' },
    ])
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    const [before] = [await audits()]
    expect([before > most / 2, before <= most + 4]).toEqual([true, true])
    // It ends with its period, as asked for last, and a plan that is paid for is never refused.
    expect((await post('cancel')).body.status).toBe('canceling')
    expect((await post('resume')).status).toBe(429)
    expect(await audits()).toBe(before)
    await fund(200n * usd)
    expect((await post('scale/subscribe')).body.plan).toBe('scale')
  })

  promise`T3`
  test('A cancellation is taken once however much was stored, and stores no call for each retry.', async () => {
    const { post } = await subscriber()
    const paths = ['free/subscribe']
    expect((await alternate(post, paths, true))?.status).toBe(429)
    expect((await post('resume')).status).toBe(429)
    expect((await post('cancel')).body.status).toBe('canceling')
  })
})
