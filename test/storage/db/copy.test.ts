import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PGlite } from '@electric-sql/pglite'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/pglite'
import { type CopyReport, copyDatabase } from '../../../src/app/copy-database.ts'
import { auditStore } from '../../../src/ledger/store/audit.ts'
import { sumLedger } from '../../../src/ledger/store/sums.ts'
import { keepCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { append, emptyFrontier, rootOf, type StoredLeaf } from '../../../src/proof/log/tree.ts'
import {
  openPostgres,
  type PgDrizzle,
  postgresDb,
} from '../../../src/storage/db/engine/postgres.ts'
import { writeFact } from '../../../src/storage/db/sql/facts.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, freshDb, testAccount, usd, type World, world } from '../../support/world.ts'

type Target = ReturnType<typeof openPostgres> & { drop(): Promise<void> }

const servers = engines.filter((engine) => engine !== 'sqlite')
const runCount = 300

describe.each(servers)('a copy from SQLite to %s', (engine) => {
  let source: World
  let target: Target
  beforeAll(async () => {
    source = await filledWorld()
    target = await emptyTarget(engine)
  }, 120_000)
  afterAll(async () => {
    await source?.stop()
    await target?.drop()
  }, 30_000)

  const copy = (): Promise<CopyReport> =>
    copyDatabase(source.db, target, { now: source.deps.clock.now(), tell: () => {} })

  test('that does not add up leaves the target without a table', async () => {
    const { accounts } = source.db.tables
    const change = (by: bigint) =>
      source.db.write((q) => {
        const balance = sql`${accounts.balance} + ${by}`
        const one = q.update(accounts).set({ balance }).where(eq(accounts.id, testAccount))
        return rows(one.returning())
      })
    await change(1n)
    expect(await outcomeOf(copy())).toThrow(`balance of account ${testAccount}`)
    expect(await tablesIn(target)).toBe(0)
    await change(-1n)
  }, 120_000)

  test('has every row, every sum and the root of the log, and is the last that the database takes', async () => {
    const copied = await copy()
    const counts = Object.fromEntries(copied.tables.map(({ table, rows }) => [table, rows]))
    expect(counts).toMatchObject({ runs: runCount, accounts: 1, keys: 2 })
    expect(counts['log_leaves']).toBeGreaterThanOrEqual(runCount)
    expect(counts['log_checkpoints']).toBeGreaterThan(0)
    const [before, after] = [await sumLedger(source.db), await sumLedger(target)]
    expect(after).toEqual(before)
    expect(after.sides.user).toBe(after.balance)
    expect(after.sides.revenue).toBeGreaterThan(0n)
    expect(await auditStore(target).faults(source.deps.clock.now())).toEqual([])
    const [from, to] = [await readWholeLogs(source.db), await readWholeLogs(target)]
    expect(to).toEqual(from)
    expect(to.faults).toEqual([])
    expect(to.logs[0]?.size).toBe(counts['log_leaves'] ?? 0)
    const latest = await source.deps.checkpoints.latest(source.deps.logs.current.origin)
    expect(to.logs[0]?.root).toBe(`0x${Buffer.from(latest?.root ?? []).toString('hex')}`)

    expect(await outcomeOf(copy())).toThrow('already has a table')
    expect(await sumLedger(target)).toEqual(before)
  }, 120_000)
})

describe('what a reading of the whole log finds', () => {
  const origin = 'http://localhost'
  const leaf = (n: number) => ({ kind: leafKinds.receipt, digest: new Uint8Array(32).fill(n) })
  const { stored, frontier } = append(emptyFrontier, [1, 2, 3, 4, 5].map(leaf))
  const signed = {
    issuer: origin,
    size: 5,
    root: rootOf(frontier),
    timestamp: 1,
    signature: new Uint8Array(65),
  }

  /** What is wrong with a log of these leaves and this head. */
  async function faultsOf(leaves: StoredLeaf[], head = signed): Promise<string> {
    const { db, drop } = await freshDb('sqlite')
    const { logs, logLeaves, logCheckpoints } = db.tables
    await db.write(function* () {
      yield* insert(logs, [{ number: 1, origin, start: 0, openedAt: 1, reason: '' }])
      yield* insert(logLeaves, leaves)
      yield* insert(logCheckpoints, [head])
      yield* writeFact(db, 'log.size', '5')
    })
    const { faults } = await readWholeLogs(db)
    await db.close()
    await drop()
    return faults.join('\n')
  }

  test('nothing in one that is whole', async () => {
    expect(await faultsOf(stored)).toBe('')
  })

  test('a hash that is another, a subtree that is another, a leaf that is gone', async () => {
    const broken = (idx: number, at: number) =>
      stored.map((one) => {
        const hashes = one.hashes.slice()
        if (one.idx === idx) hashes[at] = (hashes[at] ?? 0) ^ 1
        return { ...one, hashes }
      })
    expect(await faultsOf(broken(0, 0))).toContain('not the one that was signed')
    expect(await faultsOf(broken(3, 40))).toContain(
      'leaf 3 of http://localhost is damaged: it has other',
    )
    expect(await faultsOf(stored.slice(0, 4))).toContain('has 4 leaves, not 5')
    expect(await faultsOf(stored.filter(({ idx }) => idx !== 2))).toContain('lacks its leaf 2')
  })

  test('a head that signs another root, or more leaves than there are', async () => {
    const other = { ...signed, root: new Uint8Array(32) }
    expect(await faultsOf(stored, other)).toContain('not the one that was signed')
    expect(await faultsOf(stored, { ...signed, size: 6 })).toContain('was signed with 6 leaves')
  })
})

/** A service that ran {@link runCount} runs of two keys and signed its log. */
async function filledWorld(): Promise<World> {
  const made = await world({ toml: pricedBuiltins })
  const keys = [await made.key({ balance: 10n * usd }), await made.key()]
  for (let i = 0; i < runCount; i += 20) {
    const some = Array.from({ length: 20 }, async (_, n) => {
      const json = { model: 'counterfoil/echo-1', input: `hello ${i + n}`, tags: { of: 'ä"\n' } }
      const answer = await made.call('/v1/runs', { key: keys[n % 2]?.secret ?? '', json })
      expect(answer.status).toBe(200)
      await answer.body?.cancel()
    })
    await Promise.all(some)
  }
  await keepCheckpoint(made.deps)
  return made
}

async function emptyTarget(engine: string): Promise<Target> {
  if (engine === 'postgres') {
    const { url, drop } = await emptyDatabase()
    const opened = openPostgres(url)
    return { ...opened, drop: () => opened.close().then(drop) }
  }
  const client = new PGlite()
  const close = () => client.close()
  return { ...postgresDb(drizzle(client) as unknown as PgDrizzle, close), drop: close }
}

async function tablesIn({ drizzle: pg }: Target): Promise<number> {
  const listed = await pg.execute(
    sql`select tablename from pg_tables where schemaname = current_schema()`,
  )
  return (Array.isArray(listed) ? listed : (listed as { rows: unknown[] }).rows).length
}
