import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readExposition } from '../app/metrics/exposition.ts'
import { fund, type Home, makeHome, noBinary, type Server } from '../support/binary.ts'
import { outcomeOf } from '../support/rejection.ts'
import { until } from '../support/runs.ts'

describe.skipIf(noBinary)('the binary with a listener for metrics', () => {
  let home: Home
  let server: Server
  beforeAll(async () => {
    home = await makeHome('[metrics]\nlisten = "0"')
    server = await home.start()
  }, 60_000)
  afterAll(() => home.remove())
  const scrape = async () => {
    const printed = readFileSync(home.printed.stderr, 'utf8')
    const url = /"url":"(http:\/\/127\.0\.0\.1:\d+\/metrics)"/.exec(printed)?.[1] ?? ''
    const text = await (await fetch(url)).text()
    return { text, told: readExposition(text) }
  }

  test('tells of itself, of its ledger, and of a run once that ended', async () => {
    const secret = await fund(home, '1.00')
    const messages = [{ role: 'user', content: 'keep this private' }]
    const json = { model: 'counterfoil/echo-1', messages }
    expect((await server.call('/v1/chat/completions', { key: secret, json })).status).toBe(200)
    const { text, told } = await until('the run', async () => {
      const found = await scrape()
      return found.told.has('counterfoil_runs_total') && found
    })
    const value = (name: string) => told.get(name)?.samples[0]?.value
    expect(value('counterfoil_runs_total')).toBe(1)
    expect(value('counterfoil_ledger_balanced')).toBe(1)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(value('counterfoil_database_wal_bytes')).toBeGreaterThanOrEqual(0)
    expect(text).not.toContain(secret)
    expect(text).not.toContain('keep this private')
  }, 60_000)

  test('has none of it on the port of the API', async () => {
    expect((await server.call('/metrics')).status).toBe(404)
  })

  test('ends with both listeners, exit code 0', async () => {
    expect(await server.stop()).toBe(0)
    expect(await outcomeOf(scrape())).toThrow()
  }, 60_000)
})
