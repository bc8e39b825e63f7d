import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deliverer } from '../../../src/billing/webhooks/deliver.ts'
import { makeSecret, signedHeaders } from '../../../src/billing/webhooks/sign.ts'
import {
  changeWebhook,
  createWebhook,
  testWebhook,
} from '../../../src/billing/webhooks/webhooks.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { newAccount } from '../../ledger/office.ts'
import { promise } from '../../support/promise.ts'
import { world } from '../../support/world.ts'

setDefaultTimeout(60_000)

const { status } = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
const hasPython = status === 0
if (!hasPython) console.warn('skipped: the Python receiver of docs/webhooks.md needs python3, 3.9+')

promise`E10`
describe.skipIf(!hasPython)('the Python receiver of docs/webhooks.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-python-'))
  const guide = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url).pathname, 'utf8')
  const program = /```python\n([\s\S]+?)```/.exec(guide)?.[1] ?? ''
  const started: Bun.Subprocess[] = []

  beforeAll(() => writeFileSync(join(folder, 'receive.py'), program))
  afterAll(async () => {
    for (const child of started) child.kill()
    await Promise.all(started.map(({ exited }) => exited))
    rmSync(folder, { recursive: true, force: true })
  })

  /** A receiver with a memory of its own, and the lines that it printed. */
  async function receive(secret: string) {
    const child = Bun.spawn(['python3', 'receive.py'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: '0',
        TAKEN: join(folder, `${started.length}.db`),
        WEBHOOK_SECRET: secret,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    started.push(child)
    const lines: string[] = []
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
    const read = async () => {
      const { value = '', done } = await reader.read()
      lines.push(...value.split('\n').filter(Boolean))
      return !done
    }
    await read()
    const origin = lines.shift() ?? ''
    const reading = (async () => {
      while (await read()) {}
    })()
    return { origin, lines, reading }
  }

  test('It takes a genuine message once, and refuses forged, changed and old ones.', async () => {
    const secret = makeSecret(systemRandom())
    const { origin, lines } = await receive(secret)
    const body = JSON.stringify({ type: 'balance.low', id: 'evt_1', data: { balance_nusd: 1 } })
    const signed = (secrets: readonly string[], at = Date.now()) =>
      signedHeaders(secrets, { id: 'evt_1', at, body })
    const send = async (headers: Record<string, string>, text = body) =>
      (await fetch(origin, { method: 'POST', headers, body: text })).status
    const genuine = signed([secret])
    const other = makeSecret(systemRandom())
    expect(await send(signed([other]))).toBe(400)
    expect(await send(genuine, body.replace('1}', '2}'))).toBe(400)
    expect(await send({ ...genuine, 'webhook-id': 'evt_2' })).toBe(400)
    expect(await send({ ...genuine, 'webhook-timestamp': '²' })).toBe(400)
    expect(await send({ 'webhook-id': 'evt_1' })).toBe(400)
    expect(await send(signed([secret], Date.now() - 301_000))).toBe(400)
    expect(await send(signed([secret], Date.now() + 302_000))).toBe(400)
    expect(lines).toEqual([])
    // A rotation signs by both secrets.
    expect(await send(signed([other, secret]))).toBe(204)
    expect(await send(genuine)).toBe(204)
    while (lines.length === 0) await Bun.sleep(5)
    expect(lines).toEqual(['balance.low evt_1 {"balance_nusd": 1}'])
  })

  test('It takes what the service itself delivers.', async () => {
    const w = await world({ now: Date.now() })
    try {
      w.deps.settings.webhookReach = { allowed: [], isLoopbackAllowed: true }
      const asker = { account: newAccount(), actor: 'test' }
      await w.key({ account: asker.account })
      const url = 'http://127.0.0.1:9/'
      const { row, secret } = await createWebhook(w.deps, asker, { url, events: ['balance.low'] })
      const { origin, lines } = await receive(secret)
      await changeWebhook(w.deps, asker, row.id, { url: `${origin}/` })
      await testWebhook(w.deps, asker, row.id)
      const tick = deliverer(w.deps)
      const { signal } = new AbortController()
      const page = { limit: 9, after: undefined }
      const deliveries = async () => (await w.deps.webhooks.deliveries(row.id, page)).items
      for (let i = 0; i < 500 && !(await deliveries())[0]?.doneAt; i++) {
        await tick(signal)
        await Bun.sleep(10)
      }
      expect(lines).toEqual([expect.stringMatching(/^webhook\.test evt_\w+ \{/)])
      const delivered = { attempts: 1, httpStatus: 204, status: 'delivered' }
      expect(await deliveries()).toMatchObject([delivered])
    } finally {
      await w.stop()
    }
  })
})
