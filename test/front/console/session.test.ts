import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { idleMs } from '../../../src/access/accounts/session.ts'
import { suspendAccount } from '../../../src/front/admin/suspend.ts'
import { stopForbidden } from '../../../src/runs/stop-forbidden.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { afterFirst, eventsOf, expectSettled, modelsToml, until } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { engines, type World, world } from '../../support/world.ts'
import { account, postForm, runPath, signedIn } from './support.ts'

const asked = { model: 'stub/slow', input: 'go on' }

promise`B23 C: An answer of the console stops with its session, on every node, and charges what it
  said.`
describe.each(engines)('an answer of the console stops with its session, on %s', (engine) => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let own: Browser
  /** The same person on another device. */
  let other: Browser

  beforeAll(async () => {
    stub = await startStubUpstream()
    const now = Date.now()
    w = await world({ engine, now, toml: modelsToml(stub.url, ['slow']) })
  }, 60_000)
  afterAll(async () => {
    await w?.stop()
    await stub?.stop()
  })

  const signIn = async () => {
    own = await signedIn(w)
    other = browser(w)
    await signInWith(other)
  }
  const post = async (by: Browser, path: string) => {
    const answer = await by.call(path, { json: {}, headers: { accept: 'application/json' } })
    expect(answer.status).toBeLessThan(400)
    return answer.json().catch(() => null)
  }
  const ownSession = async (): Promise<string> => {
    const answer = await own.call('/api/portal/sessions', {
      headers: { accept: 'application/json' },
    })
    const { data } = (await answer.json()) as { data: { id: string; current: boolean }[] }
    return data.find(({ current }) => current)?.id ?? ''
  }

  const endings: [what: string, end: () => Promise<unknown>, type: string][] = [
    ['signs out', () => post(own, '/api/auth/logout'), 'session_required'],
    [
      'is signed out from another device',
      async () => post(other, `/api/portal/sessions/${await ownSession()}/revoke`),
      'session_required',
    ],
    [
      'is signed out everywhere else',
      () => post(other, '/api/portal/sessions/others/revoke'),
      'session_required',
    ],
    ['is away for too long', async () => w.advance(idleMs), 'session_required'],
    [
      'is suspended',
      () => suspendAccount(w.deps, { account, reason: 'test', actor: 'operator' }),
      'account_suspended',
    ],
  ]
  const resume = () =>
    w.deps.ledger.post({
      account,
      keys: [],
      decide(unit) {
        const row = unit.account(account)
        if (!row) return
        row.status = 'active'
        unit.changed('account', row)
      },
    })
  /** The run that is in flight, once the model has said something. */
  const inFlight = async (): Promise<string> => {
    await until('the run to begin', () => w.deps.live.all().length === 1)
    await Bun.sleep(50)
    return w.deps.live.all()[0]?.id ?? ''
  }
  const expectCharged = async (id: string, type: string) => {
    await expectSettled(w)
    const run = await w.deps.runs.find(id)
    expect([run?.outcome, run?.error?.type]).toEqual(['cancelled', type as never])
    expect(run?.cost).toBeGreaterThan(0n)
  }

  test.each(endings)('that streams, when the reader %s', async (_, end, type) => {
    await signIn()
    const { rest } = await afterFirst(own.call(runPath, { json: asked }))
    const id = await inFlight()
    await end()
    await stopForbidden(w.deps)
    const { error } = JSON.parse(eventsOf(await rest()).at(-1) ?? '')
    expect([error.type, error.metadata.outcome]).toEqual([type, 'cancelled'])
    await expectCharged(id, type)
    await resume()
  })

  test.each(endings)(
    'that comes whole without script, when the reader %s',
    async (_, end, type) => {
      await signIn()
      const page = postForm(own, w, runPath, { ...asked, temperature: '', turns: '[]', system: '' })
      const id = await inFlight()
      await end()
      await stopForbidden(w.deps)
      const answer = await page
      if (type === 'session_required') {
        expect([answer.status, await answer.text()]).toEqual([303, ''])
        expect(answer.headers.get('location')).toStartWith('/signin')
      } else expect(answer.status).toBe(403)
      await expectCharged(id, type)
      await resume()
    },
  )

  test('and goes on while another session of the same account ends', async () => {
    await signIn()
    const { rest } = await afterFirst(own.call(runPath, { json: asked }))
    await post(other, '/api/auth/logout')
    await stopForbidden(w.deps)
    const [run] = w.deps.live.all()
    expect(run?.stopped()).toBeUndefined()
    run?.stop('cancelled')
    await rest()
    await expectSettled(w)
  })
})
