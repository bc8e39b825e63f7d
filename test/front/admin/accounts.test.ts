import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser } from '../../access/accounts/wallet.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import type { StubUpstream } from '../../support/stub-upstream.ts'
import { engines, testAccount, usd, type World } from '../../support/world.ts'
import { adminWorld, html, htmx, json, noted, other, post } from './admin.ts'

setDefaultTimeout(60_000)

const api = '/api/portal/admin/accounts'
const page = '/dashboard/admin/accounts'
const xss = '<img src=x onerror=alert(1)>"\'</td><script>alert(1)</script>'

describe.each(engines)('accounts on %s', (engine) => {
  let upstream: StubUpstream
  let w: World
  let own: Browser
  beforeAll(async () => {
    upstream = await startPacedUpstream()
    ;({ w, own } = await adminWorld({ engine, toml: pacedModels(upstream.url) }))
  })
  afterAll(async () => {
    await w.stop()
    await upstream.stop()
  })
  const token = async (account = other) =>
    (await (await own.call(`${api}/${account}`, { headers: json })).json()).once
  const balanceOf = async (account: string) => (await w.deps.accounts.find(account))?.balance ?? 0n

  describe('grant', () => {
    test('a form grants once, however often it is sent; the reason is in the audit', async () => {
      const before = await balanceOf(other)
      const fields = { amount: '12.50', reason: `goodwill ${xss}`, once: await token() }
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => post(own, `${api}/${other}/grant`, fields)),
      )
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect((await balanceOf(other)) - before).toBe((25n * usd) / 2n)
      const grants = (await noted(w)).filter(({ action }) => action === 'grant')
      expect(grants).toHaveLength(1)
      expect(grants[0]).toMatchObject({
        actor: testAccount,
        accountId: other,
        detail: { amount_nusd: '12500000000', reason: fields.reason },
      })
      const changed = { ...fields, amount: '13' }
      expect((await post(own, `${api}/${other}/grant`, changed)).status).toBe(422)
      const fresh = { ...fields, once: await token() }
      expect((await post(own, `${api}/${other}/grant`, fresh)).status).toBe(200)
      expect((await balanceOf(other)) - before).toBe(25n * usd)
    })
    test('a reason is shown as text', async () => {
      const log = await (await own.call('/dashboard/admin/audit-log', { headers: html })).text()
      expect(log).toContain('&lt;script&gt;')
      expect(log).not.toContain('<script>alert')
      const query = new URLSearchParams({ amount: '1', reason: xss, once: await token() })
      const asked = await (
        await own.call(`${page}/${other}/grant?${query}`, { headers: html })
      ).text()
      expect(asked).toContain('Grant $1.00?')
      expect(asked).not.toContain('<script>alert')
      expect(asked).not.toContain('<img')
    })
    test('the question, opened without the form, leads back to the form', async () => {
      for (const query of ['', '?amount=1', '?amount=&reason=gift&once=x']) {
        const answer = await own.call(`${page}/${other}/grant${query}`, { headers: html })
        expect(answer.status).toBe(303)
        expect(answer.headers.get('location')).toEndWith(`/accounts/${other}#grant`)
      }
    })
    test('a wallet that no one used here gets an account by its first grant', async () => {
      const account = `0x${'ab'.repeat(20)}`
      const shown = await (await own.call(`${page}/${account}`, { headers: html })).text()
      expect(shown).toContain('A grant opens its account')
      const fields = { amount: '1', reason: 'welcome', once: await token(account) }
      const answer = await post(own, `${api}/${account}/grant`, fields, html)
      expect([answer.status, answer.headers.get('location')]).toEqual([303, `${page}/${account}`])
      expect(await balanceOf(account)).toBe(usd)
    })
    test.each([
      [{ amount: '0' }, 400],
      [{ amount: '-1' }, 400],
      [{ amount: '1e3' }, 400],
      [{ reason: '   ' }, 400],
      [{ once: 'made-up' }, 409],
      [{ once: '0000000000001.aaaaaaaaaaaaaaaa' }, 409],
      [{ amount: '8999999.999999999' }, 409],
    ])('%p is %p, and nothing is granted', async (wrong, status) => {
      const before = await balanceOf(other)
      const fields = { amount: '1', reason: 'why', once: await token(), ...wrong }
      expect((await post(own, `${api}/${other}/grant`, fields)).status).toBe(status)
      expect(await balanceOf(other)).toBe(before)
    })
  })

  describe('suspend and resume', () => {
    test('a run in flight ends, new ones are refused, no one signs in; resume undoes it', async () => {
      const { secret } = await w.key({ account: other, balance: 5n * usd })
      const body = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })
      const ask = (model: string, stream: boolean) =>
        w.call('/v1/chat/completions', { key: secret, json: { ...body(model), stream } })
      const running = await ask('stub/endless', true)
      expect(running.status).toBe(200)
      const confirm = await (await own.call(`${page}/${other}/suspend`, { headers: html })).text()
      expect(confirm).toContain('Suspend this account?')
      const part = await post(own, `${api}/${other}/suspend`, { reason: xss }, htmx)
      expect(await part.text()).toContain('Suspended')
      expect(await running.text()).toContain('account_suspended')
      const refused = await ask('stub/pace-5', false)
      expect([refused.status, (await refused.json()).error.type]).toEqual([
        403,
        'account_suspended',
      ])
      expect(await w.deps.accounts.find(other)).toMatchObject({ status: 'suspended', held: 0n })

      const again = await post(own, `${api}/${other}/suspend`, { reason: 'twice' })
      expect(await again.json()).toMatchObject({ status: 'suspended' })
      const back = await post(own, `${api}/${other}/resume`, { reason: 'paid' }, html)
      expect([back.status, back.headers.get('location')]).toEqual([303, `${page}/${other}`])
      expect((await ask('stub/pace-5', false)).status).toBe(200)

      const did = (await noted(w)).filter(({ action }) => action.startsWith('account.'))
      expect(
        did.map(({ action, actor, accountId, detail }) => [action, actor, accountId, detail]),
      ).toEqual([
        ['account.resume', testAccount, other, { reason: 'paid' }],
        ['account.suspend', testAccount, other, { reason: xss }],
      ])
    })
    test('409 for the own account, 404 for one that is not there, 400 without a reason', async () => {
      const reason = { reason: 'why' }
      expect((await post(own, `${api}/${testAccount}/suspend`, reason)).status).toBe(409)
      expect((await post(own, `${api}/0x${'00'.repeat(20)}/suspend`, reason)).status).toBe(404)
      expect((await post(own, `${api}/nobody/suspend`, reason)).status).toBe(404)
      expect((await post(own, `${api}/${other}/suspend`, {})).status).toBe(400)
    })
  })

  test('accounts are found by the beginning of an address, page by page, each once', async () => {
    const made = Array.from({ length: 7 }, (_, i) => `0xcafe${String(i).repeat(36)}`)
    for (const account of made) await w.key({ account, balance: usd })
    const found: string[] = []
    for (let after = ''; ; ) {
      const path = `${api}?q=0xCAFE&limit=3${after && `&after=${after}`}`
      const list = await (await own.call(path, { headers: json })).json()
      found.push(...list.data.map(({ id }: { id: string }) => id))
      if (!list.has_more) break
      after = list.last_id
    }
    expect(found).toEqual(made)
    const shown = await (
      await own.call(`${page}?q=0xcafe&after=${made[2]}`, { headers: html })
    ).text()
    expect(shown).toContain(`${page}/${made[3]}`)
    expect(shown).not.toContain(`${page}/${made[2]}"`)
    const wrong = await own.call(`${api}?q=${encodeURIComponent(xss)}`, { headers: json })
    expect(wrong.status).toBe(400)
  })

  test('those that stored most today without paying come first below the list', async () => {
    const writer = `0x${'f00d'.repeat(10)}`
    const { secret: key } = await w.key({ account: writer })
    const messages = [{ role: 'user', content: 'hi' }]
    const asked = { key, json: { model: 'counterfoil/echo-1', messages } }
    expect((await w.call('/v1/chat/completions', asked)).status).toBe(200)
    const [first] = await w.deps.admin.writers(Math.floor(w.deps.clock.now() / 86_400_000), 1)
    expect(first?.freeBytes).toBeGreaterThan(300)
    const shown = await (await own.call(page, { headers: html })).text()
    const writers = shown.slice(shown.indexOf('Largest unpaid writers today'))
    expect(writers).toContain(`${page}/${first?.id}`)
    expect(writers).toContain(`${page}/${writer}`)
  })

  test('the audit log goes back page by page, of all or of one account', async () => {
    const read = async (query: string) => {
      const ids: string[] = []
      for (let after = ''; ; ) {
        const path = `/api/portal/admin/audit-log?limit=4${query}${after && `&after=${after}`}`
        const list = await (await own.call(path, { headers: json })).json()
        ids.push(...list.data.map(({ id }: { id: string }) => id))
        if (!list.has_more) return ids
        after = list.last_id
      }
    }
    const all = await noted(w)
    expect(await read('')).toEqual(all.map(({ id }) => id))
    const theirs = all.filter(({ accountId }) => accountId === other)
    expect(await read(`&account=${other}`)).toEqual(theirs.map(({ id }) => id))
  })
})
