import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { grantCredit } from '../../../src/ledger/grant.ts'
import type { PgDirect } from '../../../src/storage/db/engine/pg-drizzle.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import { neededStep } from '../../../src/storage/db/schema/schema-needs.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { until } from '../../support/runs.ts'
import { fundedKey, type Node, startNode } from '../../support/services.ts'
import type { StubUpstream } from '../../support/stub-upstream.ts'
import { freshDb, freshDbWithClock, sharedEngines, testAccount } from '../../support/world.ts'
import { direct } from './direct.ts'
import { schemaWith } from './later-steps.ts'

setDefaultTimeout(60_000)

/** What a newer build would do: a step that this one does not know. */
const laterStep = "insert into migrations values ('9999_later', 'x', 0)"
const needs = (tag: string): string => `update schema_needs set tag = '${tag}'`

describe.each(sharedEngines)('a node whose database on %s another version migrates', (engine) => {
  let stub: StubUpstream
  let fresh: Awaited<ReturnType<typeof freshDbWithClock>>
  let node: Node
  let key = ''
  beforeAll(async () => {
    stub = await startPacedUpstream()
    fresh = await freshDbWithClock(engine)
    node = await startNode(fresh.db, { toml: pacedModels(stub.url) })
    key = await fundedKey(node)
  })
  afterAll(async () => {
    await node.stop()
    await fresh.db.close()
    await fresh.drop()
    await stub.stop()
  })
  afterEach(async () => {
    await direct(fresh.db, "delete from migrations where tag = '9999_later'")
    await direct(fresh.db, needs(neededStep))
    await until('it to see that', () => node.deps.health.schema === 'ok', 20_000)
  })

  const told = async () => (await node.call('/v1/status')).json()
  const run = () => node.call('/v1/runs', { key, json: { model: 'stub/flat', input: 'hello' } })
  const statusOf = async (id: string): Promise<string> =>
    (await (await node.call(`/v1/runs/${id}`, { key })).json()).status

  test('serves on while the step only added something, and says so', async () => {
    await direct(fresh.db, laterStep)
    await until('it to see that', () => node.deps.health.schema === 'newer', 20_000)
    expect((await run()).status).toBe(200)
    expect((await node.call('/readyz')).status).toBe(200)
    expect(await told()).toMatchObject({ status: 'ok', database: { migrated: 'newer' } })
    expect(node.logged).toContain('schema.newer')
  })

  test('takes no run where the step changed what it writes; what runs may end', async () => {
    const json = { model: 'stub/endless', input: 'hello', background: true }
    const { id } = await (await node.call('/v1/runs', { key, json })).json()
    await until('the run to begin', async () => (await statusOf(id)) === 'running')
    await direct(fresh.db, laterStep)
    await direct(fresh.db, needs('9999_later'))
    await until('it to see that', () => node.deps.health.schema === 'foreign', 20_000)
    for (const answer of [await run(), await node.call('/readyz')]) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('5')
      const { error } = await answer.json()
      expect(error).toMatchObject({ type: 'unavailable', metadata: { reason: 'schema' } })
    }
    const grant = { account: testAccount, amount: 1n, reason: 'test', actor: 'test' }
    expect(await outcomeOf(grantCredit(node.deps, grant))).toThrow('migrated by a newer version')
    expect((await node.call('/livez')).status).toBe(200)
    expect(await told()).toMatchObject({ status: 'degraded', database: { migrated: 'foreign' } })
    expect(node.logged.filter((event) => event === 'schema.foreign')).toHaveLength(1)
    await node.call(`/v1/runs/${id}/cancel`, { key, json: {} })
    await until('the run to be cancelled', async () => (await statusOf(id)) === 'cancelled')
  })
})

describe.each(sharedEngines)('a start on a database on %s that is newer', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDb>>
  let pg: PgDirect
  beforeAll(async () => {
    fresh = await freshDb(engine)
    pg = (fresh.db as unknown as { drizzle: PgDirect }).drizzle
    await direct(fresh.db, laterStep)
  })
  afterAll(async () => {
    await fresh.db.close()
    await fresh.drop()
  })

  test('goes on where this build knows what is needed, and changes nothing', async () => {
    expect(await migratePostgres(pg, 1)).toEqual([])
    const found = (await pg.execute(sql`select tag from schema_needs`)) as { rows?: unknown[] }
    expect([...(found.rows ?? (found as unknown as unknown[]))]).toEqual([{ tag: neededStep }])
  })

  test.each([
    ['a step that this build does not know is needed', needs('9999_later')],
    ['the database does not say what is needed', 'drop table schema_needs'],
  ])('The start ends where %s.', async (_, statement) => {
    await direct(fresh.db, statement)
    expect(await outcomeOf(migratePostgres(pg, 1))).toThrow('run a newer build')
  })
})

describe.each(sharedEngines.filter((engine) => engine === 'postgres'))(
  'a migration on %s',
  (engine) => {
    test('gives way to a transaction that holds a table, and comes again', async () => {
      const fresh = await freshDb(engine, true)
      const pg = (fresh.db as unknown as { drizzle: PgDirect }).drizzle
      await migratePostgres(pg, 0)
      const later = schemaWith('pg', {
        '0001_later': ['alter table accounts add column later bigint'],
        '0002_latest': ['alter table keys add column later bigint'],
      })
      let release = () => {}
      const held = Promise.withResolvers<void>()
      const holding = pg.transaction(async (tx) => {
        await tx.execute(sql`lock table keys in access share mode`)
        held.resolve()
        await new Promise<void>((resolve) => {
          release = resolve
        })
      })
      await held.promise
      // It takes the first step at once, and is held up at the second.
      const patience = { lockMs: 50, tries: 2 }
      expect(await outcomeOf(migratePostgres(pg, 1, patience, later))).toThrow('pg_stat_activity')
      const coming = migratePostgres(pg, 2, { lockMs: 50, tries: 100 }, later)
      release()
      await holding
      expect(await coming).toEqual(['0002_latest'])
      expect(await migratePostgres(pg, 3, undefined, later)).toEqual([])
      await fresh.db.close()
      await fresh.drop()
    })
  },
)
