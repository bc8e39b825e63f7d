import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { type Pair, startPair } from './nodes.ts'

const patienceMs = 60_000

const echo = (price: number): string => `[[models]]
id = "counterfoil/echo-1"
input_pusd = ${price}
output_pusd = ${price}
request_nusd = ${price}
`
const json = { model: 'counterfoil/echo-1', input: 'hello', max_output_tokens: 50 }
const wish = { model: json.model, max_input_tokens: 500, max_output_tokens: 50, valid_s: 3600 }

describe.skipIf(noBinary)('a quote of the binary', () => {
  let home: Home
  let server: Server
  let key = ''
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quote-'))
    home = await makeHome(echo(1000))
    server = await home.start()
    key = await fund(home, '1.00')
  }, patienceMs)
  afterAll(async () => {
    await home?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const runWith = (quote: string) =>
    server.call('/v1/runs', { key, json, headers: { 'x-counterfoil-quote': quote } })

  promise`D55`
  test(
    'outlives three reloads, a restart and a kill, and the command finds a forged one',
    async () => {
      const made = await (
        await server.call('/v1/quotes', { key, json: { ...wish, uses: 3 } })
      ).json()
      const plain = await (await server.call('/v1/runs', { key, json })).json()
      for (const [at, price] of [2000, 3000, 4000].entries()) {
        home.configure(echo(price))
        server.signal('SIGHUP')
        const offered = async () => (await server.get('/v1/models')).price_list
        await until('the prices', async () => (await offered()).version === at + 2, patienceMs)
      }
      const quoted = await (await runWith(made.id)).json()
      expect(quoted.receipt.cost_nusd).toBe(plain.receipt.cost_nusd)
      expect(await server.stop()).toBe(0)
      server = await home.start()
      expect((await (await runWith(made.id)).json()).cost_nusd).toBe(plain.cost_nusd)
      await server.stop('SIGKILL')
      server = await home.start()
      expect((await (await runWith(made.id)).json()).cost_nusd).toBe(plain.cost_nusd)
      expect((await runWith(made.id)).status).toBe(410)
      const dear = await (await server.call('/v1/runs', { key, json })).json()
      expect(dear.cost_nusd).toBeGreaterThan(3 * plain.cost_nusd)

      const { address } = await server.get('/v1/signer')
      const path = (name: string) => join(folder, name)
      const write = (name: string, value: unknown) =>
        writeFileSync(path(name), JSON.stringify(value))
      const file = await server.get(`/v1/receipts/${quoted.receipt.id}`, key)
      write('receipt.json', file)
      write('quote.json', made)
      const [first, ...rest] = made.quote.rates
      const forged = { ...made.quote, rates: [{ ...first, price: '1' }, ...rest] }
      write('forged.json', { ...made, quote: forged })
      const verify = (quote: string) =>
        home.cli('verify', path('receipt.json'), '--signer', address, '--quote', path(quote))
      const good = await verify('quote.json')
      expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('✓ quote')])
      const bad = await verify('forged.json')
      expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining('✗ quote')])
      expect((await verify('receipt.json')).code).toBe(2)

      // The whole log beside the running server, and an auditor who has these files alone.
      const signed = ['--signer', address]
      const { note_key: logKey, issuer } = await server.get('/v1/signer')
      const policy = { type: 'counterfoil.policy', version: '1', signers: [address], issuer }
      write('policy.json', policy)
      const log = path('log')
      const done = await home.cli('log', 'export', log)
      expect([done.code, done.stderr]).toEqual([0, expect.stringContaining('were read again')])
      const papers = ['--papers', path('receipt.json'), path('quote.json')]
      const known = ['--log-key', logKey, '--policy', path('policy.json')]
      const audited = await home.cli('audit', '--tiles', log, ...known, ...papers)
      expect([audited.code, audited.stdout]).toEqual([
        0,
        expect.stringMatching(/✓ note .*✓ tiles .*✓ heads .*✓ receipts .*✓ quotes /s),
      ])
      const unknown = await home.cli('audit', '--tiles', log, ...papers)
      expect([unknown.code, unknown.stdout]).toEqual([3, expect.stringContaining('? note')])
      const entries = readdirSync(join(log, 'tile/entries/000.p'))[0] ?? ''
      const bundle = join(log, 'tile/entries/000.p', entries)
      const bytes = readFileSync(bundle)
      bytes[2] = 9
      writeFileSync(bundle, bytes)
      const forgedLog = await home.cli('audit', '--tiles', log, ...known)
      expect([forgedLog.code, forgedLog.stdout]).toEqual([
        1,
        expect.stringContaining(`hash 0, of leaf 0, is not that of entry 0 in tile/entries/000.p/`),
      ])
      expect((await home.cli('audit', '--tiles', path('nowhere'))).code).toBe(2)

      const exported = async (query: string) =>
        (await server.call(`/v1/usage/export${query}`, { key })).text()
      const rows = await exported('?format=jsonl')
      writeFileSync(path('usage.jsonl'), rows)
      writeFileSync(path('usage.csv'), await exported('?format=csv'))
      writeFileSync(path('manifest.json'), await exported('/manifest?format=csv'))
      writeFileSync(path('forged.jsonl'), rows.replace('"cost_nusd":', '"cost_nusd":1'))
      const whole = await home.cli('verify', path('usage.jsonl'), ...signed)
      expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining('Verified.')])
      const beside = ['--manifest', path('manifest.json')]
      expect((await home.cli('verify', path('usage.csv'), ...beside, ...signed)).code).toBe(0)
      expect((await home.cli('verify', path('usage.csv'), ...beside)).code).toBe(3)
      expect((await home.cli('verify', path('usage.csv'))).code).toBe(2)
      expect((await home.cli('verify', path('forged.jsonl'), ...signed)).code).toBe(1)
    },
    patienceMs * 2,
  )
})

describe.skipIf(noBinary || !postgresServer)('a quote of two nodes', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair()
  }, 90_000)
  afterAll(() => pair?.stop(), 30_000)

  promise`D56`
  test('is made at one, and used exactly as often as it says by runs of both', async () => {
    const { key } = await pair.funded('1.00')
    const [a, b] = pair.nodes
    const flat = { model: 'stub/flat', input: 'hello', max_output_tokens: 10 }
    const asked = { ...wish, model: flat.model, uses: 7 }
    const made = await (await a.call('/v1/quotes', { key: key.secret, json: asked })).json()
    const headers = { 'x-counterfoil-quote': made.id }
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? a : b).call('/v1/runs', { key: key.secret, headers, json: flat }),
      ),
    )
    for (const { body } of answers) await body?.cancel()
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(200), count(410)]).toEqual([7, 33])
  }, 60_000)
})
