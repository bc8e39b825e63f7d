import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openUsdChain, type UsdChain } from '../billing/deposits/anvil-deposits.ts'
import { alice, units } from '../billing/deposits/depositing.ts'
import { treasury } from '../billing/deposits/stub-chain.ts'
import { noAnvil } from '../contracts/anvil.ts'
import {
  expectRefusal,
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
  withDatabase,
} from '../support/binary.ts'
import { spentBy } from '../support/judges.ts'
import { fault, promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { run, untilAnchor, writeSenderKey } from './anchors.ts'

const payer = alice as `0x${string}`
const usd = 1_000_000_000

/** How long a chain of events over real clocks may take on a busy machine, in ms. */
const patienceMs = 90_000

const more = `[anchors]
sender_key_file = "anchor.key"
min_receipts = 1
min_interval_s = 1
[limits]
unfunded_runs = 0
[[models]]
id = "counterfoil/echo-1"
input_pusd = 0
output_pusd = 0
request_nusd = 1000
`

describe.skipIf(noBinary || noAnvil)('a backup made under load, on the binary', () => {
  let chain: UsdChain
  let home: Home
  let server: Server
  let key = ''
  /** Receipt files from before the backup, and ids of receipts from after it. */
  const before: string[] = []
  const after: string[] = []
  const lost = () => join(home.folder, 'lost')

  let signer = ''
  const balance = async () => (await server.get('/v1/balance', key)).balance_nusd
  const deposit = (dollars: number) => chain.usd.send(payer, 'transfer', treasury, units(dollars))

  beforeAll(async () => {
    chain = await openUsdChain('--block-time', '0.1')
    await chain.usd.send(payer, 'mint', payer, units(100))
    home = await makeHome(chain.toml + more)
    writeSenderKey(home)
    await withDatabase(home)
    await must(home, 'anchor', 'deploy')
    server = await home.start()
    key = (await makeKey(home)).secret
    await deposit(5)
    await until('the deposit', async () => (await balance()) === 5 * usd, patienceMs)
  }, patienceMs)
  afterAll(async () => {
    await home?.remove()
    await chain?.stop()
  })

  promise`K11 H: A backup under load is whole, checked before it has its name, and no request waits
    for it.`
  test(
    'is whole while others run, and says as of when',
    async () => {
      for (let i = 0; i < 3; i++) before.push(await run(server, key))
      for (const id of before) {
        const file = await server.get(`/v1/receipts/${id}`, key)
        writeFileSync(join(home.folder, `${id}.json`), JSON.stringify(file))
      }
      let isDone = false
      let made = 0
      const load = Array.from({ length: 4 }, async () => {
        while (!isDone) {
          await run(server, key)
          made++
        }
      })
      await until('some load', () => made > 20, patienceMs)
      const madeBefore = made
      const copied = JSON.parse(await must(home, 'backup', 'kept.db', '--json'))
      const madeBeside = made - madeBefore
      isDone = true
      await Promise.all(load)
      // More than those that were on their way: none waited for the end of the copy.
      expect(madeBeside).toBeGreaterThan(load.length)
      expect(copied).toMatchObject({ ledger: 'balanced', origin: server.origin })
      signer = copied.signer
      expect(copied.log_size).toBeGreaterThan(20)
    },
    patienceMs,
  )

  promise`K12 C: An old copy of the database is found out by the chain and issues nothing.`
  fault`39: an old copy of the database is restored → the chain tells; nothing is issued over it;
    deposits are credited once`
  test(
    'restored, the ledger adds up, each deposit is credited once, and the log is found to be older than the chain',
    async () => {
      for (let i = 0; i < 3; i++) after.push(await run(server, key))
      const rich = await balance()
      await deposit(7)
      await until('a second deposit', async () => (await balance()) === rich + 7 * usd, patienceMs)
      await untilAnchor(server, after.at(-1) ?? '', 'confirmed')
      expect(await server.stop()).toBe(0)
      mkdirSync(lost())
      renameSync(home.data, join(lost(), 'data'))

      const restored = JSON.parse(await must(home, 'restore', 'kept.db', '--json'))
      expect(restored).toMatchObject({ ledger: 'balanced', sessions_ended: 0 })
      const keyless = await home.cli('serve')
      expect([keyless.code, keyless.stderr.includes('signer.key')]).toEqual([1, true])
      copyFileSync(join(lost(), 'data', 'signer.key'), join(home.data, 'signer.key'))

      server = await home.start({ probe: '/livez' })
      const status = await until(
        'the guard',
        async () => {
          const found = await server.get('/v1/status')
          return found.anchors.status === 'diverged' && found
        },
        patienceMs,
      )
      expect(status).toMatchObject({ status: 'degraded', ledger: 'balanced' })
      // One deposit was in the copy, the other is found on the chain again.
      const due = 12 * usd - (await spentBy(home)).spent
      await until('both deposits', async () => (await balance()) === due, patienceMs)
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      await expectRefusal(await server.call('/v1/runs', { key, json }), 503, 'log_diverged')
      expect((await server.call(`/v1/receipts/${before[0]}`, { key })).status).toBe(200)
      expect((await server.call(`/v1/receipts/${after[0]}`, { key })).status).toBe(404)
    },
    patienceMs * 2,
  )

  test(
    'log reopen leads out: old receipts verify, new ones are issued and paid',
    async () => {
      expect(await server.stop()).toBe(0)
      await must(home, 'log', 'reopen', '--reason', 'restored an old copy')
      server = await home.start()
      const money = await balance()
      const id = await run(server, key)
      expect(await balance()).toBe(money - 1000)
      const { receipt } = await server.get(`/v1/receipts/${id}`, key)
      expect(receipt.issuer).toEndWith('#2')
      for (const old of before) {
        const verify = ['verify', `${old}.json`, '--signer', signer]
        const { code, stdout } = await home.cli(...verify)
        expect([code, stdout.includes('✗')]).toEqual([0, false])
      }
      await untilAnchor(server, id, 'confirmed')
      const { findings } = JSON.parse(await must(home, 'doctor', '--json'))
      const well = findings.filter(({ status }: { status: string }) => status === 'ok')
      const parts = new Set(well.map(({ part }: { part: string }) => part))
      for (const part of ['database', 'ledger', 'signer', 'chain', 'deposits', 'anchors']) {
        expect(parts).toContain(part)
      }
      expect(readFileSync(home.printed.stderr, 'utf8')).toContain('log.diverged')
    },
    patienceMs * 2,
  )
})
