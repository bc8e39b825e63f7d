import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import type { Browser } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { lastRun, modelsToml } from '../../support/runs.ts'
import { startStubUpstream, stubWords } from '../../support/stub-upstream.ts'
import { engines, type World, world } from '../../support/world.ts'
import { postForm, readable, runPath, signedIn } from './support.ts'

setDefaultTimeout(60_000)

/** The second of the well-known test accounts. */
const stranger = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
const dayMs = 86_400_000

describe.each(engines)('a question of a form without script on %s', (engine) => {
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let own: Browser
  beforeAll(async () => {
    stub = await startStubUpstream()
    const now = Date.now()
    w = await world({ engine, now, toml: modelsToml(stub.url, ['normal', 'cut-2', 'status-500']) })
    own = await signedIn(w)
  })
  afterAll(async () => {
    await w?.stop()
    await stub?.stop()
  })

  const fields = { model: 'stub/normal', input: 'Why batch?', turns: '[]' }
  /** Sends the form of a fresh page, as a browser does that will show the answer's address. */
  const send = (more: Record<string, string>) => {
    // Ids order by time: the last run is the one of this form.
    w.advance(1000)
    return postForm(own, w, runPath, { ...fields, ...more }, { 'sec-fetch-mode': 'navigate' })
  }
  const formName = async (): Promise<string> => {
    const page = await (await own.call('/dashboard/console')).text()
    return /name="once" value="([^"]*)"/.exec(page)?.[1] ?? ''
  }
  const read = async (path: string, by = own) => {
    const answer = await by.call(path, { headers: { accept: 'text/html' } })
    return { status: answer.status, text: readable(await answer.text()) }
  }

  promise`C21`
  test('is answered at an address that is loaded again without another run', async () => {
    const answer = await send({ once: await formName() })
    const at = answer.headers.get('location') ?? ''
    expect([answer.status, at]).toEqual([
      303,
      expect.stringMatching(/^\/dashboard\/console\?talk=[0-9a-f]{64}$/),
    ])
    const [{ id }, asked] = [await lastRun(w), stub.calls.length]
    for (let load = 0; load < 2; load++) {
      const { status, text } = await read(at)
      expect(status).toBe(200)
      expect(text).toContain(stubWords.join(''))
      expect(text).toContain(`rcpt_${id.slice(4, 8)}`)
    }
    expect([(await lastRun(w)).id, stub.calls.length]).toEqual([id, asked])
  })

  promise`C21`
  test('that is sent twice from one form is asked and charged once', async () => {
    const once = await formName()
    const first = await send({ once })
    const asked = stub.calls.length
    const again = await send({ once })
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(stub.calls.length).toBe(asked)
    const edited = await send({ once, input: 'Why not?' })
    expect(edited.headers.get('location')).not.toBe(first.headers.get('location'))
    expect(stub.calls.length).toBe(asked + 1)
  })

  test('that broke off and was charged is kept with what came and what it cost', async () => {
    const answer = await send({ once: await formName(), model: 'stub/cut-2' })
    expect(answer.status).toBe(303)
    const { text } = await read(answer.headers.get('location') ?? '')
    expect(text).toContain(stubWords.slice(0, 2).join(''))
    expect(text).toContain('You were charged $')
  })

  test('that was refused is shown at once, with what was written', async () => {
    const answer = await send({ once: await formName(), temperature: 'warm' })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toContain('value="warm"')
  })

  test('is shown to no other account, and not after its receipt was erased', async () => {
    const at = (await send({ once: await formName() })).headers.get('location') ?? ''
    const { id } = await lastRun(w)
    const other = await signedIn(w, 0n, stranger)
    const missing = 'This answer is no longer kept.'
    const seen = await read(at, other)
    expect(seen.text).toContain(missing)
    expect(seen.text).not.toContain(stubWords.join(''))
    expect((await read(`${at.slice(0, -64)}${'0'.repeat(64)}`)).text).toContain(missing)
    expect((await read(at)).text).not.toContain(missing)
    const erased = await own.call(`/api/portal/receipts/rcpt_${id.slice(4)}/erase`, { json: {} })
    expect(erased.status).toBe(200)
    expect((await read(at)).text).toContain(missing)
  })

  test('is kept for a day', async () => {
    const at = (await send({ once: await formName() })).headers.get('location') ?? ''
    w.advance(dayMs + 1000)
    own = await signedIn(w, 0n)
    expect((await read(at)).text).toContain('This answer is no longer kept.')
  })

  test('of a form that the page did not write is answered at once', async () => {
    const answer = await send({ once: 'req_made_up' })
    expect(answer.status).toBe(200)
    expect(readable(await answer.text())).toContain(stubWords.join(''))
  })
})
