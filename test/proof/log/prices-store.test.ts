import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { ensureLogs } from '../../../src/proof/log/store/logs.ts'
import { ensurePriceList } from '../../../src/proof/log/store/price-list.ts'
import { readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { type LogStore, logStore } from '../../../src/proof/log/store.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { openPostgres } from '../../../src/storage/db/engine/postgres.ts'
import { migratePostgres } from '../../../src/storage/db/schema/migrate.ts'
import { type Query, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { closeAll, freshFile, opened, openFile } from '../../storage/db/file.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { until } from '../../support/runs.ts'
import { type Engine, engines, freshDb } from '../../support/world.ts'

setDefaultTimeout(60_000)

/** What several processes have of one database; PGlite has one connection, which they share. */
type Shared = { nodes: Db[]; race: Race }
/** Runs starts at once; where a server can hold them, until each of them wants to write. */
type Race = <T>(starts: (() => Promise<T>)[]) => Promise<T[]>

const atOnce: Race = (starts) => Promise.all(starts.map((start) => start()))

async function shareDatabase(engine: Engine, count: number): Promise<Shared> {
  if (engine === 'sqlite') {
    const file = freshFile()
    return { nodes: Array.from({ length: count }, () => openFile(file).db), race: atOnce }
  }
  if (engine === 'pglite') {
    const { db } = await freshDb(engine)
    opened.push(() => db.close())
    return { nodes: Array.from({ length: count }, () => db), race: atOnce }
  }
  return sharePostgres(count)
}

async function sharePostgres(count: number): Promise<Shared> {
  const { url, sql, drop } = await emptyDatabase()
  opened.push(drop)
  const nodes = Array.from({ length: count }, () => openPostgres(url))
  for (const node of nodes) opened.push(() => node.close())
  const [one] = nodes
  if (one) await migratePostgres(one.drizzle, 0)
  const waiting = async () => {
    const [row] = await sql`
      select count(*)::int as locks from pg_locks
      where relation = 'price_lists'::regclass and not granted`
    return row.locks
  }
  const race: Race = async (starts) => {
    // Anyone who looks finds what is there; anyone who then adds a row waits for the lock.
    await sql`begin`
    await sql`lock table price_lists in exclusive mode`
    const racing = atOnce(starts)
    await until('all to want to write', async () => (await waiting()) === starts.length, 30_000)
    await sql`commit`
    return racing
  }
  return { nodes, race }
}

describe.each(engines)('the price list of several starts at once, %s', (engine) => {
  const clock = { now: () => 0 }
  let db: Db
  let race: Race
  let offices: { db: Db; log: LogStore }[]
  beforeAll(async () => {
    const shared = await shareDatabase(engine, 3)
    race = shared.race
    offices = shared.nodes.map((node, i) => ({
      db: node,
      log: logStore(node, { clock, node: `node-${i}`, start: 0 }),
    }))
    for (const office of offices.slice(0, 1)) {
      db = office.db
      await db.write((q) => ensureLogs(db, q, 'test', 0))
      const first = { kind: leafKinds.receipt, digest: new Uint8Array(32) }
      await office.log.change((_, { append }) => append(() => [first]))
    }
  })
  afterAll(closeAll)

  const settle = (content: string) => (office: (typeof offices)[number]) => () =>
    ensurePriceList(office.db, office.log, { id: 'test', digest: content, content }, 0)

  /** What is stored of each version, and how many leaves a log has that is whole. */
  const stored = async () => {
    const { priceLists } = db.tables
    const ordered = (q: Query) => q.select().from(priceLists).orderBy(asc(priceLists.version))
    const lists = await db.read((q) => rows(ordered(q)))
    const { logs, faults } = await readWholeLogs(db)
    expect(faults).toEqual([])
    return {
      lists: lists.map(({ version, content, logPlace }) => [version, content, logPlace]),
      leaves: logs.map(({ size }) => size),
    }
  }

  test('is one version, one row and one entry of the log', async () => {
    expect(await race(offices.map(settle('first')))).toEqual([1, 1, 1])
    expect(await stored()).toEqual({ lists: [[1, 'first', 1]], leaves: [2] })
  })

  test('is the next version when its prices are others, for all of them', async () => {
    expect(await race(offices.map(settle('second')))).toEqual([2, 2, 2])
    const lists = [
      [1, 'first', 1],
      [2, 'second', 2],
    ]
    expect(await stored()).toEqual({ lists, leaves: [3] })
  })

  test('stays the version that it has', async () => {
    expect(await atOnce(offices.map(settle('second')))).toEqual([2, 2, 2])
    expect((await stored()).leaves).toEqual([3])
  })

  test('is a version for each when their prices differ', async () => {
    const contents = ['third', 'fourth', 'fifth']
    const starts = offices.map((office, i) => settle(contents[i] ?? '')(office))
    expect((await race(starts)).sort()).toEqual([3, 4, 5])
    const { lists, leaves } = await stored()
    expect(lists.map(([version]) => version)).toEqual([1, 2, 3, 4, 5])
    expect(new Set(lists.slice(2).map(([, content]) => content))).toEqual(new Set(contents))
    expect(lists.map(([, , place]) => place)).toEqual([1, 2, 3, 4, 5])
    expect(leaves).toEqual([6])
  })
})
