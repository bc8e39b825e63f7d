import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { reloader } from '../../../src/app/reload.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import {
  alice,
  bob,
  type Depositing,
  depositingWorld,
  tomlOf,
  units,
} from '../../billing/deposits/depositing.ts'
import { type StubChain, stubChain, transferLog } from '../../billing/deposits/stub-chain.ts'
import { configOf, load } from '../../config/load.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, testAccount, usd, type World } from '../../support/world.ts'
import { adminWorld, html, htmx, json, noted, other, post } from './admin.ts'

setDefaultTimeout(60_000)

describe('the service, as its operator sees it', () => {
  let w: World
  let own: Browser
  beforeAll(async () => {
    ;({ w, own } = await adminWorld({ toml: pricedBuiltins }))
  })
  afterAll(() => w.stop())
  const read = async (path: string) =>
    (await own.call(`/api/portal/admin${path}`, { headers: json })).json()

  test('every part says how it is and what to do', async () => {
    w.deps.health.ledger = 'unbalanced'
    w.deps.health.ledgerFaults = 3
    const { data } = await read('')
    expect(data.map(({ part }: { part: string }) => part)).toEqual([
      'Database',
      'Ledger',
      'Log',
      'Chain',
      'Anchors',
      'Deposits',
      'Models',
    ])
    expect(data[1]).toMatchObject({ tone: 'bad', state: 'Does not balance' })
    const page = await (await own.call('/dashboard/admin', { headers: html })).text()
    expect(page).toContain('1 part needs attention')
    expect(page).toContain('3 differences')
    w.deps.health.ledger = 'balanced'
  })

  test('models with their prices, the leaf of the price list, upstreams as they were counted', async () => {
    const { secret } = await w.key({ balance: usd })
    const body = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }
    expect((await w.call('/v1/chat/completions', { key: secret, json: body })).status).toBe(200)
    await w.deps.sequencer.flush()
    const view = await read('/models')
    expect(view.price_list).toMatchObject({ id: 'default', version: 1, leaf: 0 })
    const builtin = view.upstreams.find(({ asked }: { asked: number }) => asked === 1)
    expect(builtin).toMatchObject({ asked: 1, failed: 0, reasons: {}, share_bps: 10_000 })
    expect(Array.isArray(builtin.first_tokens)).toBe(true)
  })

  test('the configuration is read again where something can: what came of it is said and noted', async () => {
    const path = '/api/portal/admin/reload'
    expect((await post(own, path, {})).status).toBe(409)
    const text = (toml: string) => `admins = ["${testAccount}"]\n${toml}`
    let file = text('models = "<b>x</b>"')
    const config = configOf({ fileText: text(pricedBuiltins) })
    const log = { ...w.deps.log, setLevel: () => {} }
    const readAgain = () => load({ fileText: file })
    w.deps.reload.again = reloader({ service: w.deps, log, config, readAgain })
    const refused = await (await post(own, path, {}, htmx)).text()
    expect(refused).toContain('Nothing was changed')
    expect(refused).not.toContain('<b>')
    expect((await read('/models')).price_list.version).toBe(1)

    file = text(pricedBuiltins.replace('150_000', '300_000'))
    const changed = ['models "counterfoil/echo-1"']
    expect(await (await post(own, path, {})).json()).toEqual({ changed, restart: [] })
    await w.deps.sequencer.flush()
    const { price_list } = await read('/models')
    expect(price_list.version).toBe(2)
    expect(price_list.leaf).toBeGreaterThan(0)
    const did = (await noted(w)).filter(({ action }) => action === 'config.reload')
    expect(did.map(({ actor, detail }) => [actor, detail])).toEqual([
      [testAccount, { changed, restart: [] }],
      [testAccount, { refused: 1 }],
    ])
    w.deps.reload.again = undefined
  })

  test('anchor now is 409 where anchoring is off, and says so', async () => {
    expect((await post(own, '/api/portal/admin/anchors/now', {})).status).toBe(409)
    const page = await (await own.call('/dashboard/admin/anchors', { headers: html })).text()
    expect(page).toContain('counterfoil anchor deploy')
    expect(page).not.toContain('Anchor now')
  })
})

describe.each(engines)('money on %s', (engine) => {
  let chain: StubChain
  let w: Depositing
  let own: Browser
  beforeAll(async () => {
    chain = stubChain()
    const toml = `admins = ["${testAccount}"]\n${pricedBuiltins}\n${tomlOf([chain.url])}`
    w = await depositingWorld({ engine, url: chain.url, toml })
    await w.look()
    own = browser(w)
    await signInWith(own)
    chain.add([transferLog(alice, units(5)), transferLog(bob, units(70))])
    chain.mine(20)
    await w.look()
    chain.add([transferLog(bob, units(0.001)), transferLog(alice, units(3))])
    chain.mine(1)
    await w.look()
  })
  afterAll(async () => {
    await w.stop()
    await chain.stop()
  })
  const list = async (query: string) => {
    const answer = await own.call(`/api/portal/admin/deposits${query}`, { headers: json })
    const { data } = (await answer.json()) as { data: { id: string; amount_nusd: number }[] }
    return data.map(({ amount_nusd }) => amount_nusd / 1e9).sort((a, b) => a - b)
  }

  test('those of everybody; those that wait, that are ignored, that are of no one here', async () => {
    expect(await list('')).toEqual([0.001, 3, 5, 70])
    expect(await list('?state=waiting')).toEqual([3])
    expect(await list('?state=ignored')).toEqual([0.001])
    expect(await list('?state=unassigned')).toEqual([70])
    const answer = await own.call('/api/portal/admin/deposits?state=no', { headers: json })
    expect(answer.status).toBe(400)
  })

  test('one is assigned once, with a reason, and the audit names the admin', async () => {
    const found = (await w.all()).find(({ from, status }) => from === bob && status !== 'ignored')
    const id = found?.id ?? ''
    const page = await (await own.call(`/dashboard/admin/deposits/${id}`, { headers: html })).text()
    expect(page).toContain('Assign this deposit?')
    const path = `/api/portal/admin/deposits/${id}/assign`
    const fields = { account: testAccount, reason: '<i>their exchange</i>' }
    expect((await post(own, path, { ...fields, account: 'me' })).status).toBe(400)
    expect((await post(own, path, { account: testAccount })).status).toBe(400)
    const plain = await post(own, path, fields, html)
    expect([plain.status, plain.headers.get('location')]).toEqual([
      303,
      '/dashboard/admin/deposits',
    ])
    expect([await w.balance(testAccount), await w.balance(bob)]).toEqual([75, 0])
    expect((await post(own, path, fields)).status).toBe(409)
    const none = '/api/portal/admin/deposits/dep_01jd0000000000000000000000/assign'
    expect((await post(own, none, fields)).status).toBe(404)
    expect(await list('?state=unassigned')).toEqual([])
    const did = (await noted(w)).filter(({ action }) => action === 'deposit.assigned')
    expect(did).toHaveLength(1)
    expect(did[0]).toMatchObject({
      actor: testAccount,
      detail: { reason: fields.reason, from: bob },
    })
  })

  test('an audit finds nothing, its sides are zero together; a wrong balance is found', async () => {
    const { secret } = await w.key({ account: other, balance: 7n * usd })
    const body = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }
    await (await w.call('/v1/chat/completions', { key: secret, json: body })).json()
    const path = '/api/portal/admin/ledger/audit'
    const audited = await (await post(own, path, {})).json()
    expect(audited).toMatchObject({ balanced: true, faults: [] })
    const { user, revenue, grants, deposits } = audited.sides
    expect([user + revenue, grants, deposits]).toEqual([82e9, -7e9, -75e9])
    expect(revenue).toBeGreaterThan(0)

    const { accounts } = w.db.tables
    const theirs = eq(accounts.id, other)
    await w.db.write((q) => {
      return rows(
        q
          .update(accounts)
          .set({ balance: 99n * usd })
          .where(theirs)
          .returning(),
      )
    })
    const plain = await post(own, path, {}, html)
    expect([plain.status, plain.headers.get('location')]).toEqual([303, '/dashboard/admin/ledger'])
    const page = await (await own.call('/dashboard/admin/ledger', { headers: html })).text()
    expect(page).toContain('The books do not balance')
    expect(page).toContain(`balance of account ${other}`)
    expect(w.deps.health).toMatchObject({ ledger: 'unbalanced', ledgerFaults: 1 })
    const did = (await noted(w)).filter(({ action }) => action === 'ledger.audit')
    expect(did.map(({ actor, detail }) => [actor, detail])).toEqual([
      [testAccount, { faults: 1 }],
      [testAccount, { faults: 0 }],
    ])
  })
})
