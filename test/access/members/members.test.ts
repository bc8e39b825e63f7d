import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { issueKey } from '../../../src/access/keys/issue.ts'
import { removeMember } from '../../../src/access/members/remove.ts'
import { ownerOf } from '../../../src/kernel/acting.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { errorType } from '../../docs/answers.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { cookieHeader } from '../accounts/wallet.ts'
import { accepted, actFor, invited, jsonOf, member, type Person, person } from './people.ts'

setDefaultTimeout(60_000)

const newKey = { name: 'agent', cap: { limit_nusd: 1_000_000_000 } }

describe.each(engines)('members, on %s', (engine) => {
  let w: World
  let owner: Person
  beforeAll(async () => {
    w = await world({
      engine,
      toml: `${pricedBuiltins}\n[limits]\nfailed_auth_per_minute = 1_000_000`,
    })
    owner = await person(w)
    await w.key({ account: owner.wallet, balance: 100n * usd, name: 'of the owner' })
  })
  afterAll(() => w.stop())

  const status = async (answer: Promise<Response>) => (await answer).status

  promise`P2 C: A developer sees and changes nothing outside the own branch of keys.`
  test('A developer gets a branch, and all that they mint hangs below it.', async () => {
    const dev = await member(w, owner, 'developer')
    const { members } = await jsonOf(owner.own.call('/api/portal/members'))
    const branch = members.find(
      (one: { address: string }) => one.address.toLowerCase() === dev.wallet,
    ).branch_key_id
    const made = await jsonOf(dev.own.call('/api/portal/keys', { json: newKey }))
    expect(made.parent_id).toBe(branch)
    const above = { ...newKey, cap: { limit_nusd: Number(6n * usd) } }
    expect(await status(dev.own.call('/api/portal/keys', { json: above }))).toBe(400)
    const listed = await jsonOf(dev.own.call('/api/portal/keys'))
    expect(listed.data.map(({ id }: { id: string }) => id).sort()).toEqual([branch, made.id].sort())
    const all = await jsonOf(owner.own.call('/api/portal/keys'))
    expect(all.data.length).toBeGreaterThan(2)
    const foreign = all.data.find(({ name }: { name: string }) => name === 'of the owner').id
    for (const [method, path] of [
      ['GET', `/api/portal/keys/${foreign}`],
      ['POST', `/api/portal/keys/${foreign}/revoke`],
      ['POST', `/api/portal/keys/${foreign}/rotate`],
    ] as const) {
      expect(await status(dev.own.call(path, { method }))).toBe(404)
    }
    const under = { ...newKey, parent_id: foreign }
    expect(await status(dev.own.call('/api/portal/keys', { json: under }))).toBe(400)
    // The top of the branch is the owner's limit: the developer sees it and cannot change it.
    expect(await status(dev.own.call(`/api/portal/keys/${branch}`))).toBe(200)
    for (const verb of ['revoke', 'rotate', 'pause']) {
      const path = `/api/portal/keys/${branch}/${verb}`
      expect(await status(dev.own.call(path, { method: 'POST' }))).toBe(403)
    }
    for (const path of ['/dashboard/keys', `/dashboard/keys/${branch}`]) {
      const page = await (await dev.own.call(path, { headers: html })).text()
      expect(page).not.toMatch(new RegExp(`${branch}/(revoke|rotate|pause)`))
      expect(page).not.toContain(`action="/api/portal/keys/${branch}`)
    }
  })

  promise`P2`
  test('A developer lists the runs, receipts and usage of the own branch alone.', async () => {
    const dev = await member(w, owner, 'developer')
    const { secret } = await jsonOf(dev.own.call('/api/portal/keys', { json: newKey }))
    const other = await w.key({ account: owner.wallet, name: 'another' })
    const ask = (key: string) => {
      const json = { model: 'counterfoil/echo-1', input: 'hi', max_output_tokens: 4 }
      return jsonOf(w.call('/v1/runs', { key, json }))
    }
    const mine = [await ask(secret), await ask(secret)]
    const theirs = await ask(other.secret)
    const ids = async (path: string) =>
      (await jsonOf(dev.own.call(path))).data.map(({ id }: { id: string }) => id)
    const own = mine.map(({ id }) => id).reverse()
    expect(await ids('/api/portal/runs')).toEqual(own)
    expect(await ids('/api/portal/runs?status=succeeded')).toEqual(own)
    const [newest] = own
    expect(await ids(`/api/portal/runs?limit=1&after=${newest}`)).toEqual(own.slice(1))
    const receipts = mine.map((run) => run.receipt_id).reverse()
    expect(await ids('/api/portal/receipts')).toEqual(receipts)
    expect(await ids('/api/portal/receipts?visibility=private')).toEqual(receipts)
    expect(await status(dev.own.call(`/api/portal/runs/${theirs.id}`))).toBe(404)
    expect(await status(dev.own.call(`/api/portal/runs/${own[0]}`))).toBe(200)
    expect(await status(dev.own.call(`/api/portal/receipts/${theirs.receipt_id}`))).toBe(404)
    const share = `/api/portal/receipts/${receipts[0]}/share`
    expect(await status(dev.own.call(share, { json: { visibility: 'unlisted' } }))).toBe(200)
    expect(await ids('/api/portal/receipts?visibility=unlisted')).toEqual([receipts[0]])
    const foreignShare = `/api/portal/receipts/${theirs.receipt_id}/share`
    const json = { visibility: 'public' }
    expect(await status(dev.own.call(foreignShare, { json }))).toBe(404)
    const usage = await jsonOf(dev.own.call('/api/portal/usage'))
    expect(usage.totals.runs).toBe(2)
    const csv = await (await dev.own.call('/api/portal/usage/export')).text()
    expect(csv).toContain(own[0])
    expect(csv).not.toContain(theirs.id)
    const command = { command: `run ${theirs.id}` }
    expect(await status(dev.own.call('/api/portal/console/command', { json: command }))).toBe(404)
    const page = await (await dev.own.call('/dashboard/keys', { headers: html })).text()
    expect(page).toContain('agent')
    expect(page).not.toContain('of the owner')
  })

  promise`P2`
  test('The console of a developer spends through a key of the branch.', async () => {
    const dev = await member(w, owner, 'developer')
    const json = { model: 'counterfoil/echo-1', input: 'hi', max_output_tokens: 4 }
    const headers = { accept: 'application/json' }
    expect(await status(dev.own.call('/api/portal/console/run', { json, headers }))).toBe(200)
    const { key } = await jsonOf(dev.own.call('/api/portal/console'))
    const { data } = await jsonOf(dev.own.call('/api/portal/keys'))
    expect(data.map(({ id }: { id: string }) => id)).toContain(key.id)
    const theirs = await jsonOf(owner.own.call('/api/portal/console'))
    expect(theirs.key?.id).not.toBe(key.id)
  })

  promise`P3 C: A removed member has no session, key or right left at the commit.`
  test('Removal ends the session, the branch and its keys in one commit.', async () => {
    const dev = await member(w, owner, 'developer')
    const { secret } = await jsonOf(dev.own.call('/api/portal/keys', { json: newKey }))
    expect(await status(w.call('/v1/keys/self', { key: secret }))).toBe(200)
    const path = `/api/portal/members/${dev.signer.address}/remove`
    expect(await status(owner.own.call(path, { method: 'POST' }))).toBe(200)
    const refused = await w.call('/v1/keys/self', { key: secret })
    expect([refused.status, await errorType(refused)]).toEqual([403, 'key_revoked'])
    expect(await status(dev.own.call('/api/portal/keys'))).toBe(401)
    const { account } = await jsonOf(dev.own.call('/api/auth/session'))
    expect(account).toBeNull()
    expect(await status(actFor(dev, owner.wallet))).toBe(401)
    expect(await status(owner.own.call(path, { method: 'POST' }))).toBe(404)
  })

  promise`P3`
  test('A member who leaves acts for the own account again, and the branch is revoked.', async () => {
    const dev = await member(w, owner, 'developer')
    const before = cookieHeader(dev.own.jar)
    const { secret } = await jsonOf(dev.own.call('/api/portal/keys', { json: newKey }))
    expect(await status(dev.own.call('/api/portal/members/leave', { method: 'POST' }))).toBe(200)
    expect(await status(w.call('/v1/keys/self', { key: secret }))).toBe(403)
    const { data } = await jsonOf(dev.own.call('/api/portal/keys'))
    expect(data).toEqual([])
    expect(await status(w.call('/api/portal/keys', { headers: before }))).toBe(401)
    expect(await status(dev.own.call('/api/portal/members/leave', { method: 'POST' }))).toBe(409)
  })

  promise`P4 C: An invitation makes one wallet a member, once, until it is revoked or expires.`
  test('Of many wallets that accept one link at once, one becomes a member.', async () => {
    const token = await invited(owner, 'developer')
    const people = await Promise.all(Array.from({ length: 6 }, () => person(w)))
    const found = await Promise.all(
      people.flatMap((one) => [accepted(one, token), accepted(one, token)]),
    )
    const joined = found.filter(({ ok }) => ok)
    expect(joined.length).toBe(1)
    expect([...new Set(found.filter(({ ok }) => !ok).map((one) => one.status))]).toEqual([404])
    const late = await person(w)
    expect(await status(accepted(late, token))).toBe(404)
  })

  promise`P3`
  test('A key that is minted while its member is removed is refused or revoked.', async () => {
    for (const role of ['developer', 'owner'] as const) {
      const one = await member(w, owner, role)
      const acting = (await w.deps.members.find(owner.wallet, one.wallet)) ?? fail()
      const by = {
        wallet: one.wallet,
        account: owner.wallet,
        role,
        member: acting.id,
        branch: acting.branch ?? undefined,
      }
      const wish = { account: owner.wallet, actor: one.wallet, name: 'late', capLimit: usd }
      const mint = () => {
        const parentId = acting.branch ?? undefined
        return issueKey(w.deps, { ...wish, capWindow: 'lifetime', acting: by, parentId })
      }
      const minted = [mint(), mint(), mint()]
      const removed = removeMember(w.deps, ownerOf(owner.wallet), one.wallet)
      minted.push(mint(), mint(), mint())
      const done = await Promise.allSettled(minted)
      await removed
      for (const outcome of done) {
        if (outcome.status === 'rejected') {
          expect(outcome.reason).toBeInstanceOf(Refusal)
          continue
        }
        const { key } = outcome.value
        const now = await w.deps.keys.find(key.id)
        // What an owner minted before the removal is the account's.
        if (role === 'developer') expect(now?.revokedAt).not.toBeNull()
      }
      const after = await mint().catch((error: unknown) => error)
      expect(after).toBeInstanceOf(Refusal)
    }
  })

  test("The account's own wallet is never removed, nor does it accept its own link.", async () => {
    const second = await member(w, owner, 'owner')
    const path = `/api/portal/members/${owner.signer.address}/remove`
    expect(await status(second.own.call(path, { method: 'POST' }))).toBe(409)
    expect(await status(owner.own.call(path, { method: 'POST' }))).toBe(409)
    expect(await status(owner.own.call('/api/portal/members/leave', { method: 'POST' }))).toBe(409)
    const token = await invited(second, 'viewer')
    expect(await status(accepted(owner, token))).toBe(409)
    const stranger = await person(w)
    expect(await status(accepted(stranger, token))).toBe(200)
    // An owner who removes the own wallet acts for the own account from then on.
    const self = `/api/portal/members/${second.signer.address}/remove`
    expect(await status(second.own.call(self, { method: 'POST' }))).toBe(200)
    const { account } = await jsonOf(second.own.call('/api/auth/session'))
    expect(account.toLowerCase()).toBe(second.wallet)
    expect(await status(actFor(second, owner.wallet))).toBe(404)
  })

  promise`P4`
  test('An invitation ends when it is revoked and when its week is over.', async () => {
    const token = await invited(owner, 'billing')
    const { invitations } = await jsonOf(owner.own.call('/api/portal/members'))
    const path = `/api/portal/members/invitations/${invitations[0].id}/revoke`
    expect(await status(owner.own.call(path, { method: 'POST' }))).toBe(200)
    expect(await status(owner.own.call(path, { method: 'POST' }))).toBe(404)
    const one = await person(w)
    expect(await status(accepted(one, token))).toBe(404)
    const expiring = await invited(owner, 'billing')
    w.advance(7 * 86_400_000)
    const late = await person(w)
    expect(await status(accepted(late, expiring))).toBe(404)
    owner = { ...owner, own: (await signedInAgain(owner)).own }
  })

  promise`P4`
  test('A link shows the wallet that it would be bound to, and changes nothing by itself.', async () => {
    const token = await invited(owner, 'developer', { models: ['counterfoil/*'] })
    const one = await person(w)
    const path = `/dashboard/members/accept?token=${token}`
    const page = await (await one.own.call(path, { headers: html })).text()
    expect(page).toContain(one.signer.address)
    expect(page).toContain(owner.signer.address)
    expect(page).toContain('counterfoil/*')
    expect(await status(one.own.call('/dashboard/members/accept?token=x', { headers: html }))).toBe(
      404,
    )
    const { members } = await jsonOf(owner.own.call('/api/portal/members'))
    const known = members.map(({ address }: { address: string }) => address.toLowerCase())
    expect(known).not.toContain(one.wallet)
    const signedOut = await w.call(path, { headers: html, redirect: 'manual' })
    expect(signedOut.headers.get('location')).toContain(encodeURIComponent(token))
    const body = new URLSearchParams({ token }).toString()
    const headers = { ...html, 'content-type': 'application/x-www-form-urlencoded' }
    const joined = await one.own.call('/api/portal/members/accept', {
      method: 'POST',
      headers,
      body,
    })
    expect([joined.status, joined.headers.get('location')]).toEqual([303, '/dashboard/keys'])
    const acting = await (await one.own.call('/dashboard/keys', { headers: html })).text()
    expect(acting).toContain('You act for')
    expect(acting).toContain('action="/api/auth/account"')
  })

  promise`P5 H: The audit names the wallet that acted and the account it acted for.`
  test('The audit says which wallet did it and for which account.', async () => {
    const dev = await member(w, owner, 'developer')
    const made = await jsonOf(dev.own.call('/api/portal/keys', { json: newKey }))
    const { auditEntries } = w.db.tables
    const entries = await w.db.read((q) => rows(q.select().from(auditEntries)))
    const by = entries.filter(({ actor }) => actor === dev.wallet)
    const of = (action: string) => by.find((one) => one.action === action && one.subject !== branch)
    const { branch } = (await w.deps.members.find(owner.wallet, dev.wallet)) ?? fail()
    expect(of('key.create')).toMatchObject({
      actor: dev.wallet,
      accountId: owner.wallet,
      subject: made.id,
    })
    expect(of('member.join')).toMatchObject({ actor: dev.wallet, accountId: owner.wallet })
    expect(of('session.act_for')).toMatchObject({ actor: dev.wallet, accountId: owner.wallet })
  })

  test('A suspended account is closed to its members, who get back to their own.', async () => {
    const other = await person(w)
    const viewer = await member(w, other, 'viewer')
    const { suspendAccount } = await import('../../../src/front/admin/suspend.ts')
    await suspendAccount(w.deps, { account: other.wallet, reason: 'test', actor: 'operator' })
    expect(await status(viewer.own.call('/api/portal/keys'))).toBe(403)
    const page = await viewer.own.call('/dashboard/keys', { headers: html })
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('Your own')])
    expect(await status(actFor(viewer, viewer.wallet))).toBe(200)
    expect(await status(viewer.own.call('/api/portal/keys'))).toBe(200)
  })

  const signedInAgain = async ({ signer }: Person) => {
    const { browser, signInWith } = await import('../accounts/wallet.ts')
    const own = browser(w)
    await signInWith(own, signer)
    return { own }
  }
})

const html = { accept: 'text/html' }

const fail = (): never => expect.unreachable('no member')
