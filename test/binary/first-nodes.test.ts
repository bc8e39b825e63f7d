import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fund, type Home, makeHome, noBinary } from '../support/binary.ts'
import { freePort } from '../support/free-port.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { promise } from '../support/promise.ts'
import { testPrivateKey } from '../support/world.ts'
import { faultsIn, serviceName, untilNumbered } from './nodes.ts'

const run = { model: 'counterfoil/echo-1', input: 'hello' }
const nodeCount = 4

describe.skipIf(noBinary || !postgresServer)('the first starts on an empty PostgreSQL', () => {
  let database: EmptyDatabase
  const homes: Home[] = []
  beforeAll(async () => {
    database = await emptyDatabase()
    const toml = `base_url = "${serviceName}"\ndatabase_url = "${database.url}"\n`
    for (let i = 0; i <= nodeCount; i++) homes.push(await makeHome(toml))
  }, 30_000)
  afterAll(async () => {
    for (const home of homes) await home.remove()
    await database?.drop()
  }, 30_000)

  test('four at once make one schema, one log and one signer; another signer is refused', async () => {
    const env = { COUNTERFOIL_SIGNER_KEY: testPrivateKey }
    const first = homes.slice(0, nodeCount)
    const nodes = await Promise.all(first.map((home) => home.start({ env, port: freePort() })))
    const [home] = homes
    if (!home) throw new Error('no home')
    const key = await fund(home, '1.00')
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        nodes[i % nodeCount]?.call('/v1/runs', { key, json: run }),
      ),
    )
    expect(answers.map((answer) => answer?.status)).toEqual(answers.map(() => 200))
    await untilNumbered({ database })
    expect(await faultsIn({ database })).toEqual([])
    const [found] = await database.sql`
      select (select count(*) from logs) as logs, (select count(*) from signers) as signers,
             (select count(*) from leases where name like 'node:%') as nodes`
    expect(found).toEqual({ logs: '1', signers: '1', nodes: String(nodeCount) })
    const stranger = await homes[nodeCount]?.cli('serve', '--listen', `127.0.0.1:${freePort()}`)
    expect(stranger?.code).toBe(1)
    expect(stranger?.stderr).toContain('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    for (const node of nodes) expect(await node.stop()).toBe(0)
    const [left] = await database.sql`select count(*) from leases where name like 'node:%'`
    expect(left.count).toBe('0')
  }, 120_000)

  promise`N3`
  test('of two at once with two base_urls one serves; the other ends and is told both', async () => {
    const empty = await emptyDatabase()
    const names = ['https://one.example', 'https://two.example']
    const pair = await Promise.all(
      names.map((name) => makeHome(`base_url = "${name}"\ndatabase_url = "${empty.url}"\n`)),
    )
    try {
      const env = { COUNTERFOIL_SIGNER_KEY: testPrivateKey }
      const started = await Promise.allSettled(
        pair.map((home) => home.start({ env, port: freePort() })),
      )
      const loser = started.findIndex(({ status }) => status === 'rejected')
      const winner = started[1 - loser]
      if (winner?.status !== 'fulfilled') throw new Error('exactly one has to start')
      const said = readFileSync(pair[loser]?.printed.stderr ?? '', 'utf8')
      expect(said).toContain(`is named ${names[1 - loser]}, and `)
      expect(said).toContain(`base_url here is ${names[loser]}: give all servers the same base_url`)
      expect(await empty.sql`select origin from logs`).toEqual([{ origin: names[1 - loser] }])
      expect(await winner.value.stop()).toBe(0)
    } finally {
      for (const home of pair) await home.remove()
      await empty.drop()
    }
  }, 60_000)
})
