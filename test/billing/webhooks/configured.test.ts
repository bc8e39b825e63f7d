import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { pauseKey } from '../../../src/access/keys/pause.ts'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { configView, showConfig } from '../../../src/config/show.ts'
import { configOf, load, problemsOf } from '../../config/load.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { engines, type World, world } from '../../support/world.ts'
import { receivers } from './receivers.ts'

setDefaultTimeout(60_000)

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const env = { COUNTERFOIL_HOOK: secret }
const entry = (url: string, more = '') => `
[[webhooks]]
id = "pager"
url = "${url}"
secret_env = "COUNTERFOIL_HOOK"
${more}`

describe('[[webhooks]] in the configuration', () => {
  test('has the events of the operator unless it names others, and its secret from outside', () => {
    const [one] = configOf({ fileText: entry('https://example.com/hook'), env }).webhooks
    expect(one).toMatchObject({ id: 'pager', format: 'standard', secret })
    expect(one?.events).toContain('ledger.unbalanced')
    expect(one?.events).not.toContain('run.ended')
    const named = entry('https://example.com/hook', 'events = ["run.ended"]')
    expect(configOf({ fileText: named, env }).webhooks[0]?.events).toEqual(['run.ended'])
  })

  promise`E10`
  test('is refused without a sound secret, for an address of this network, for an unknown event', () => {
    const faults = (fileText: string, some = {}) => problemsOf({ fileText, env, ...some }).join()
    const chat = '[[webhooks]]\nid = "chat"\nurl = "https://example.com/x"\nformat = "slack"'
    expect(faults(chat, { env: {} })).toBe('')
    expect(faults(chat.replace('slack', 'standard'))).toContain('secret_env or secret_file')
    const weak = { env: { COUNTERFOIL_HOOK: 'whsec_AAAA' } }
    expect(faults(entry('https://example.com/'), weak)).toContain('24 to 64 bytes')
    for (const url of ['http://example.com/', 'https://10.0.0.1/']) {
      expect(faults(entry(url))).toContain('public address')
    }
    const allowed = '[outbound]\nallow_networks = ["10.0.0.0/8"]\n'
    expect(faults(allowed + entry('https://10.0.0.1/'))).toBe('')
    expect(faults(entry('http://127.0.0.1:9/'))).toContain('public address')
    expect(faults(entry('http://127.0.0.1:9/'), { flags: { dev: true } })).toBe('')
    expect(faults(entry('https://example.com/', 'events = ["key.lost"]'))).toContain('events')
    expect(faults(entry('https://example.com/').repeat(2))).toContain('there twice')
  })

  test('is shown without its secret and without its URL, which is one for a chat', () => {
    const loaded = load({ fileText: entry('https://example.com/T0/B0/xoxb'), env })
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    const shown =
      showConfig(loaded.config, loaded.sources) +
      JSON.stringify(configView(loaded.config, loaded.sources))
    expect(shown).toContain('[[webhooks]]')
    expect(shown).not.toContain('xoxb')
    expect(shown).not.toContain(secret)
  })
})

describe.each(engines)('webhooks of the operator on %s', (engine) => {
  const { receive, stop } = receivers()
  const ending = new AbortController()
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: Date.now() })
    w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
  })
  afterAll(async () => {
    ending.abort()
    await w.stop()
    stop()
  })

  test('are taken on by a reload, told of every account, and gone with their deliveries when the file has them no more', async () => {
    const receiver = await receive(secret)
    const fileText = entry(`${receiver.origin}/`, 'events = ["key.paused", "run.ended"]')
    await w.deps.adopt(configOf({ fileText, env, flags: { dev: true } }))
    expect(w.deps.settings.tellsRuns).toBe(true)
    w.advance(1)
    const [first, second] = [newAccount(), newAccount()]
    for (const account of [first, second]) {
      const { key } = await w.key({ account, balance: 1000n })
      await pauseKey(w.deps, { keyId: key.id, actor: 'test' })
    }
    const tick = deliverer(w.deps)
    for (let i = 0; i < 1000 && receiver.messages().length < 2; i++) {
      await tick(ending.signal)
      await Bun.sleep(10)
    }
    const messages = receiver.messages()
    expect(messages.map(({ verified }) => verified)).toEqual([true, true])
    const told = messages.map(({ body }) => JSON.parse(body))
    expect(told.map(({ account }) => account.toLowerCase()).sort()).toEqual([first, second].sort())
    // The same file again changes nothing; without the entry it is gone.
    await w.deps.adopt(configOf({ fileText, env, flags: { dev: true } }))
    expect(await w.deps.webhooks.list('')).toMatchObject([{ id: 'operator:pager', secret: null }])
    await w.deps.adopt(configOf())
    expect(await w.deps.webhooks.list('')).toEqual([])
    const left = await w.deps.webhooks.deliveries('operator:pager', { limit: 9, after: undefined })
    expect(left.items).toEqual([])
    expect([w.deps.settings.tellsRuns, w.deps.settings.webhookSecrets.size]).toEqual([false, 0])
  })
})
