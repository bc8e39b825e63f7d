import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { until } from '../support/runs.ts'

/** How long a signal may take to work on a busy machine, in ms. */
const patienceMs = 30_000

const echo = (price: number): string => `[[models]]
id = "counterfoil/echo-1"
input_pusd = 0
output_pusd = 0
request_nusd = ${price}
`

describe.skipIf(noBinary)('SIGHUP', () => {
  let home: Home
  let server: Server
  let key = ''
  beforeAll(async () => {
    home = await makeHome(echo(1000))
    server = await home.start()
    key = await fund(home, '1.00')
  })
  afterAll(() => home?.remove())

  const offered = async () => (await server.get('/v1/models')).price_list.version
  const said = () => readFileSync(home.printed.stderr, 'utf8')
  const costOfRun = async () => {
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    const answer = await server.call('/v1/runs', { key, json })
    return (await answer.json()).receipt.cost_nusd
  }

  test(
    'new prices hold without a restart, and the receipts are of the new list',
    async () => {
      expect(await costOfRun()).toBe(1000)
      home.configure(echo(3000))
      server.signal('SIGHUP')
      await until('the new prices', async () => (await offered()) === 2, patienceMs)
      expect(await costOfRun()).toBe(3000)
      expect(said()).toContain('config.reloaded')
    },
    patienceMs * 2,
  )

  test(
    'a bad file changes nothing; every fault is in the log',
    async () => {
      home.configure(`${echo(5000)}[limits]\nrpm = "many"\nrpmm = 1\n`)
      server.signal('SIGHUP')
      await until('the refusal', () => said().includes('config.refused'), patienceMs)
      expect(said()).toContain('limits.rpm must be a whole number')
      expect(said()).toContain('did you mean rpm?')
      expect([await offered(), await costOfRun()]).toEqual([2, 3000])
    },
    patienceMs * 2,
  )

  test(
    'what takes a restart is named, and the rest holds',
    async () => {
      home.configure(`data = "./other"\n${echo(4000)}`)
      server.signal('SIGHUP')
      await until('the new prices', async () => (await offered()) === 3, patienceMs)
      await until('the log', () => /needs_restart\W+data/.test(said()), patienceMs)
      expect(await costOfRun()).toBe(4000)
      expect(await server.stop()).toBe(0)
    },
    patienceMs * 2,
  )
})
