import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { affordable, askAll, size } from '../../drills/crowd.ts'
import { askNonce, type Browser, browser, signInWith, wallet } from '../access/accounts/wallet.ts'
import { expectRefusal, grant, noBinary, type Server } from '../support/binary.ts'
import { flatCost } from '../support/paced-upstream.ts'
import { postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { eventsOf, until } from '../support/runs.ts'
import { faultsIn, type Pair, startPair, untilNumbered } from './nodes.ts'

const flat = { model: 'stub/flat', input: 'hello' }
const usd = (nusd: number): string => (nusd / 1e9).toFixed(9)

describe.skipIf(noBinary || !postgresServer)('two nodes on one PostgreSQL', () => {
  let pair: Pair
  let a: Server
  let b: Server
  beforeAll(async () => {
    pair = await startPair()
    ;[a, b] = pair.nodes
  }, 90_000)
  afterAll(() => pair?.stop(), 30_000)

  test('take 1,000 runs at once where 50 can be paid: 50 are, to the nano-dollar', async () => {
    const { key } = await pair.funded(usd(affordable * flatCost))
    const answers = await askAll([a, b], [key.secret])
    const count = (is: (answer: (typeof answers)[number]) => boolean) => answers.filter(is).length
    expect({
      paid: count(({ status }) => status === 200),
      refused: count(({ type }) => type === 'insufficient_balance'),
    }).toEqual({ paid: affordable, refused: size - affordable })
    for (const node of [a, b]) {
      const balance = await node.get('/v1/balance', key.secret)
      expect(balance).toMatchObject({ balance_nusd: 0, held_nusd: 0 })
    }
    await untilNumbered(pair)
    expect(await faultsIn(pair)).toEqual([])
  }, 180_000)

  test('a sign-in begun at one is finished at the other, and holds at both', async () => {
    const own = browser(a)
    const { message } = await askNonce(own)
    const signature = await wallet.signMessage({ message })
    const other = browser(b, own.jar)
    const json = { message, signature }
    expect((await other.call('/api/auth/verify', { json })).status).toBe(200)
    const accountAt = async (one: Browser) =>
      (await (await one.call('/api/auth/session')).json()).account
    for (const one of [own, other]) expect(await accountAt(one)).toBe(wallet.address)
    // The nonce is spent at both.
    expect((await browser(a, own.jar).call('/api/auth/verify', { json })).status).toBe(403)
    const kept = browser(b, new Map(own.jar))
    expect((await own.call('/api/auth/logout', { json: {} })).status).toBeLessThan(400)
    expect(await accountAt(kept)).toBeNull()
  }, 60_000)

  promise`B23`
  test('a sign-out at one stops a console answer of the other within two seconds', async () => {
    await grant(pair.homes[0], '1.00', wallet.address)
    const own = browser(a)
    await signInWith(own)
    const elsewhere = browser(b, new Map(own.jar))
    const json = { model: 'stub/endless', input: 'go on' }
    const answer = await own.call('/api/portal/console/run', { json })
    const text = answer.text()
    await Bun.sleep(500)
    const start = performance.now()
    expect((await elsewhere.call('/api/auth/logout', { json: {} })).status).toBeLessThan(400)
    const { error } = JSON.parse(eventsOf(await text).at(-1) ?? '')
    expect(performance.now() - start).toBeLessThan(2500)
    expect(error).toMatchObject({ type: 'session_required', metadata: { outcome: 'cancelled' } })
    expect(error.metadata.cost_nusd).toBeGreaterThan(0)
  }, 60_000)

  test('a run of one is cancelled through the other', async () => {
    const { key } = await pair.funded('1.00')
    const json = { model: 'stub/endless', input: 'go on', background: true }
    const { id } = await (await a.call('/v1/runs', { key: key.secret, json })).json()
    const show = () => b.get(`/v1/runs/${id}`, key.secret)
    await until('the run to begin', async () => (await show()).status === 'running', 30_000)
    const path = `/v1/runs/${id}/cancel`
    const answer = await b.call(path, { method: 'POST', key: key.secret })
    expect(answer.status).toBe(200)
    await until('the run to end', async () => (await show()).status === 'cancelled', 30_000)
    const again = await b.call(path, { method: 'POST', key: key.secret })
    await expectRefusal(again, 409, 'conflict')
    const [left] = await pair.database.sql`
      select count(*) as asked from facts where name like 'cancel/%'`
    expect(Number(left.asked)).toBe(0)
  }, 90_000)

  test('a revocation at one ends spending at the other from its answer on, and its runs', async () => {
    const { key } = await pair.funded('5.00', '--scopes', 'keys:mint,runs:write')
    const child = { name: 'child', cap: { limit_nusd: 1_000_000_000 } }
    const made = await a.call('/v1/keys', { key: key.secret, json: child })
    expect(made.status).toBe(201)
    const { id, secret } = await made.json()
    const streaming = await b.call('/v1/chat/completions', {
      key: secret,
      json: {
        model: 'stub/endless',
        stream: true,
        messages: [{ role: 'user', content: 'go on' }],
      },
    })
    const text = streaming.text()
    let isRevoked = false
    let isOver = false
    const seen = { before: 0, after: 0, late: [] as number[] }
    const load = async () => {
      while (!isOver) {
        const isAfter = isRevoked
        const answer = await b.call('/v1/runs', { key: secret, json: flat })
        await answer.body?.cancel()
        if (isAfter) seen.late.push(answer.status)
        else if (answer.status === 200) seen.before++
        if (isAfter) seen.after++
      }
    }
    const workers = Array.from({ length: 8 }, load)
    await until('runs to be paid', () => seen.before > 8, 60_000)
    const revoked = await a.call(`/v1/keys/${id}/revoke`, { method: 'POST', key: key.secret })
    isRevoked = true
    expect(revoked.status).toBe(200)
    await until('runs to be refused', () => seen.after > 16, 60_000)
    isOver = true
    await Promise.all(workers)
    expect(seen.late.filter((status) => status === 200)).toEqual([])
    await until(
      'reads to be refused',
      async () => (await b.call('/v1/keys/self', { key: secret })).status === 403,
      30_000,
    )
    // The stream at the other node was ended in band.
    const last = (await text).trimEnd().split('\n\n').at(-1) ?? ''
    expect(JSON.parse(last.replace('data: ', '')).error.type).toBe('key_revoked')
    await untilNumbered(pair)
    expect(await faultsIn(pair)).toEqual([])
  }, 180_000)

  test('a member who is removed at one acts nowhere: session, branch and stream end at the other', async () => {
    const owner = browser(a)
    const person = privateKeyToAccount(generatePrivateKey())
    await signInWith(owner)
    await grant(pair.homes[0], '5.00', wallet.address)
    const cap = { limit_nusd: 2_000_000_000 }
    const invite = await owner.call('/api/portal/members/invite', {
      json: { role: 'developer', cap },
    })
    const { link } = (await invite.json()) as { link: string }
    const theirs = browser(b)
    await signInWith(theirs, person)
    const token = new URL(link).searchParams.get('token')
    const accept = await theirs.call('/api/portal/members/accept', { json: { token } })
    expect(accept.status).toBe(200)
    const act = await theirs.call('/api/auth/account', { json: { account: wallet.address } })
    expect(act.status).toBe(200)
    const made = await theirs.call('/api/portal/keys', { json: { name: 'theirs', cap } })
    expect(made.status).toBe(201)
    const { secret: key } = (await made.json()) as { secret: string }
    const messages = [{ role: 'user', content: 'go on' }]
    const json = { model: 'stub/endless', stream: true, messages }
    const streaming = await b.call('/v1/chat/completions', { key, json })
    const text = streaming.text()
    const list = () => theirs.call('/api/portal/keys')
    expect((await list()).status).toBe(200)
    const jar = new Map(theirs.jar)
    const path = `/api/portal/members/${person.address}/remove`
    expect((await owner.call(path, { json: {} })).status).toBe(200)
    const start = performance.now()
    // The session is gone at the commit, on every node.
    expect((await list()).status).toBe(401)
    expect((await browser(a, jar).call('/api/portal/keys')).status).toBe(401)
    // No hold is taken any more from the commit on; a read may know the key for a second.
    expect((await b.call('/v1/runs', { key, json: flat })).status).toBe(403)
    const last = (await text).trimEnd().split('\n\n').at(-1) ?? ''
    expect(JSON.parse(last.replace('data: ', '')).error.type).toBe('key_revoked')
    expect(performance.now() - start).toBeLessThan(5000)
    expect((await b.call('/v1/keys/self', { key })).status).toBe(403)
    const again = await theirs.call('/api/portal/members/accept', { json: { token } })
    expect([401, 404]).toContain(again.status)
  }, 90_000)
})
