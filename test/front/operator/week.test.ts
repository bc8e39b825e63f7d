import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueToken } from '../../../src/access/operators/issue-token.ts'
import { issueVouchers } from '../../../src/billing/vouchers/issue-vouchers.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { program } from '../../support/program.ts'
import { upstreamToml } from '../../support/runs.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { usd, type World, world } from '../../support/world.ts'

const customer = `0x${'be'.repeat(20)}`
const secret = 'whsec_scripted'
const prices = {
  data: [
    {
      id: 'acme/normal',
      name: 'Acme: Normal',
      context_length: 10_000,
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      top_provider: { max_completion_tokens: 1000 },
      supported_parameters: ['tools'],
      pricing: { prompt: '0.000001', completion: '0.000002' },
    },
  ],
}

describe("a reseller's first week, as docs/sell.md tells it", () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-week-'))
  let stub: Awaited<ReturnType<typeof startStubUpstream>>
  let w: World
  let token: string
  let cards: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
  let cardsUrl: string

  beforeAll(async () => {
    stub = await startStubUpstream({
      handler: (_, response) => {
        response.setHeader('content-type', 'application/json')
        const message = { role: 'assistant', content: 'sold' }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }
        response.end(JSON.stringify({ id: 'x', object: 'chat.completion', choices, usage }))
      },
    })
    const toml = importPrices(folder, stub.url)
    w = await world({ toml })
    const wish = {
      name: 'week',
      scopes: ['grants:write', 'usage:read'] as const,
      lifeMs: 86_400_000,
    }
    token = (await issueToken(w.deps, wish)).secret
    const guide = readFileSync(new URL('../../../docs/sell.md', import.meta.url).pathname, 'utf8')
    const program = /```ts\n([\s\S]+?)```/.exec(guide)?.[1] ?? ''
    expect(program.trim().split('\n').length).toBeLessThan(75)
    writeFileSync(join(folder, 'grant.ts'), program)
    cards = Bun.spawn([process.execPath, 'grant.ts'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: '0',
        WEBHOOK_SECRET: secret,
        GATEWAY: w.origin,
        OPERATOR_TOKEN: token,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const { value } = await cards.stdout.getReader().read()
    cardsUrl = new TextDecoder().decode(value).trim()
  }, 60_000)
  afterAll(async () => {
    cards.kill()
    await cards.exited
    expect(await auditStore(w.db).faults(w.deps.clock.now())).toEqual([])
    await w.stop()
    await stub.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const balance = async () => (await w.deps.accounts.find(customer))?.balance ?? 0n

  /** What the scripted processor sends. */
  function hook(change: object = {}, { at = Date.now(), key = secret } = {}): Promise<Response> {
    const object = {
      payment_status: 'paid',
      payment_intent: 'pi_1',
      client_reference_id: customer,
      amount_total: 1250,
      currency: 'usd',
      ...change,
    }
    const body = JSON.stringify({ type: 'checkout.session.completed', data: { object } })
    const t = Math.floor(at / 1000)
    const v1 = createHmac('sha256', key).update(`${t}.${body}`).digest('hex')
    const headers = { 'stripe-signature': `t=${t},v1=${v1}` }
    return fetch(cardsUrl, { method: 'POST', headers, body })
  }

  test('A paid checkout is granted once; forged, old and unpaid ones are not.', async () => {
    expect((await hook({}, { key: 'forged' })).status).toBe(400)
    expect((await hook({}, { at: Date.now() - 600_000 })).status).toBe(400)
    expect(await (await hook({ payment_status: 'unpaid' })).text()).toBe('ignored')
    expect(await balance()).toBe(0n)
    const [once, again] = [await hook(), await hook()]
    expect([await once.text(), await again.text()]).toEqual(['granted', 'granted'])
    expect(await balance()).toBe((25n * usd) / 2n)
    expect((await hook({ payment_intent: 'pi_2', client_reference_id: 'none' })).status).toBe(500)
  })

  test('From the voucher over a run to its margin, with prices from a file at a markup.', async () => {
    const { secret: key } = await w.key({ account: customer })
    const wish = { amount: 5n * usd, count: 1, lifeMs: 1000_000, perAccount: 1, actor: 'test' }
    const { codes } = await issueVouchers(w.deps, wish)
    const before = await balance()
    const redeemed = await w.call('/v1/vouchers/redeem', { key, json: { code: codes[0] } })
    expect([redeemed.status, (await balance()) - before]).toEqual([200, 5n * usd])
    const json = {
      model: 'acme/normal',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 60,
    }
    const answer = await (await w.call('/v1/chat/completions', { key, json })).json()
    const paid = 240_000
    expect(answer.usage.cost_nusd).toBe(paid)
    await w.deps.sequencer.flush()
    const margins = await w.call('/operator/v1/margins?by=account', { key: token })
    expect((await margins.json()).totals).toMatchObject({
      runs: 1,
      revenue_nusd: paid,
      cost_nusd: 200_000,
      margin_nusd: 40_000,
    })
  })
})

/** A configuration with the prices of the file at a markup of 20 %, as the command writes it. */
function importPrices(folder: string, url: string): string {
  const config = join(folder, 'counterfoil.toml')
  writeFileSync(config, upstreamToml('acme', url))
  writeFileSync(join(folder, 'prices.json'), JSON.stringify(prices))
  const wish = ['--from', 'openrouter', '--upstream', 'acme', '--markup', '20%', '--write']
  const cmd = [...program, 'models', 'import', 'prices.json', ...wish]
  const env = { PATH: process.env['PATH'] ?? '' }
  const { exitCode, stderr } = Bun.spawnSync({ cmd, cwd: folder, env })
  expect([exitCode, exitCode === 0 ? '' : stderr.toString()]).toEqual([0, ''])
  return readFileSync(config, 'utf8')
}
