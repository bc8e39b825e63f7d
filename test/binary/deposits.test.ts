import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openUsdChain, type UsdChain } from '../billing/deposits/anvil-deposits.ts'
import { alice, exchange, units } from '../billing/deposits/depositing.ts'
import { treasury } from '../billing/deposits/stub-chain.ts'
import { noAnvil } from '../contracts/anvil.ts'
import {
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
  someAccount,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'

setDefaultTimeout(120_000)
const from = alice as `0x${string}`
const customer = exchange as `0x${string}`

describe.skipIf(noBinary || noAnvil)('deposits, on the binary', () => {
  let chain: UsdChain
  let home: Home
  let server: Server
  let key = ''
  beforeAll(async () => {
    chain = await openUsdChain('--block-time', '0.1')
    for (const account of [from, customer]) {
      await chain.usd.send(account, 'mint', account, units(1_000_000))
    }
    home = await makeHome(chain.toml)
    key = (await makeKey(home)).secret
  })
  afterAll(async () => {
    await home?.remove()
    await chain?.stop()
  })
  const balance = async (): Promise<number> =>
    (await server.get('/v1/balance', key)).balance_nusd / 1_000_000_000
  const untilBalance = (dollars: number) =>
    until(`a balance of ${dollars}`, async () => (await balance()) === dollars, 60_000)
  const status = async () => JSON.parse(await must(home, 'deposits', 'status', '--json'))

  promise`F1`
  test('what came while it was killed again and again is credited once', async () => {
    server = await home.start()
    let sent = 0
    for (let i = 0; i < 5; i++) {
      const values = [units(1), units(2)]
      await chain.usd.send(from, 'transferAll', treasury, values)
      sent += 3
      await Bun.sleep(i * 120)
      await server.stop('SIGKILL')
      await chain.usd.send(from, 'transfer', treasury, units(5))
      sent += 5
      server = await home.start()
    }
    await untilBalance(sent)
    await until('all final', async () => {
      const { states } = await status()
      return states.finalized?.count === 15 && Object.keys(states).length === 1
    })
    expect(await balance()).toBe(sent)
    const { deposits, ledger } = await server.get('/v1/status')
    expect([deposits.status, ledger]).toEqual(['ok', 'balanced'])
  })

  test('assign gives a deposit of an exchange to an account, beside the server, with a reason', async () => {
    const before = await balance()
    await chain.usd.send(customer, 'transfer', treasury, units(9))
    const found = await until('the deposit', async () => {
      const { data } = await status()
      return data.find((one: { from: string; status: string }) => {
        return one.from.toLowerCase() === exchange && one.status !== 'detected' && one
      })
    })
    const args = ['deposits', 'assign', found.id, someAccount]
    expect((await home.cli(...args)).code).toBe(2)
    expect((await home.cli(...args, '--reason', ' ')).code).toBe(2)
    const made = JSON.parse(await must(home, ...args, '--reason', 'ticket 7', '--json'))
    expect(made.account).toBe(someAccount)
    await untilBalance(before + 9)
    const again = await home.cli(...args, '--reason', 'ticket 7')
    expect([again.code, again.stderr]).toEqual([1, 'This deposit is already in that account.\n'])
  })

  test('rescan is picked up by the running server and credits nothing twice', async () => {
    const before = await balance()
    await must(home, 'deposits', 'rescan', '--from-block', '0')
    await until('the rescan', async () => (await status()).rescan_from === null)
    expect(await balance()).toBe(before)
    expect((await home.cli('deposits', 'rescan')).code).toBe(2)
    expect((await home.cli('deposits', 'rescan', '--from-block', 'x')).code).toBe(2)
    expect((await home.cli('deposits', 'status')).stderr).toContain('Read up to block')
  })

  promise`F6`
  test('with other decimals than the token has it serves and says that deposits are off', async () => {
    await server.stop()
    home.configure(chain.toml.replace('[deposits]', 'token_decimals = 18\n[deposits]'))
    server = await home.start()
    const told = await until('a degraded status', async () => {
      const found = await server.get('/v1/status')
      return found.deposits.status === 'degraded' && found
    })
    expect([told.status, told.deposits.reason]).toEqual(['degraded', 'wrong_decimals'])
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    expect((await server.call('/v1/runs', { key, json })).status).toBe(200)
    expect(await server.stop()).toBe(0)
  })
})
