import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { signCheckpoint } from '../../../src/proof/log/checkpoint.ts'
import { logChecker } from '../../../src/proof/log/reread.ts'
import { logReading, readWholeLogs } from '../../../src/proof/log/store/whole.ts'
import { first, insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { tilePath } from '../../../src/verify/log-tiles.ts'
import { direct } from '../../storage/db/direct.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

setDefaultTimeout(120_000)

type Refused = { error: { type: string; message: string; metadata?: { leaf: number } } }

for (const engine of engines) {
  promise`T9 C: Nothing false of the log is served, and the damaged leaf is named.`
  describe(`a log whose rows changed on the disk, on ${engine}`, () => {
    let w: World
    let size = 0
    const receipts: string[] = []

    beforeAll(async () => {
      w = await world({ engine, toml: pricedBuiltins })
      const { secret } = await w.key({ balance: 10n * usd })
      for (let i = 0; i < 22; i++) {
        const json = { model: 'counterfoil/echo-1', input: `run ${i}` }
        receipts.push((await (await w.call('/v1/runs', { key: secret, json })).json()).receipt.id)
      }
      await w.deps.sequencer.flush()
      size = (await signCheckpoint(w.deps))?.size ?? 0
      expect(size).toBe(23)
      // A disk asks no trigger.
      const on = (table: string) => (engine === 'sqlite' ? '' : ` on ${table}`)
      for (const table of ['log_leaves', 'log_checkpoints']) {
        for (const name of [`${table}_never_change`, `${table}_never_vanish`]) {
          await direct(w.db, `drop trigger if exists ${name}${on(table)}`)
        }
      }
    })
    afterAll(() => w.stop())

    const leaves = () => w.db.tables.logLeaves
    type Row = { idx: number; hashes: Uint8Array; kind: number; runId: string | null }
    const rowOf = async (leaf: number): Promise<Row> => {
      const found = await w.db.read((q) =>
        first(q.select().from(leaves()).where(eq(leaves().idx, leaf))),
      )
      if (!found) throw new Error(`no leaf ${leaf}`)
      return { ...found, hashes: found.hashes.slice() }
    }
    const write = (leaf: number, change: Partial<Row>) =>
      w.db.write(function* (q) {
        const set = change as { hashes: Uint8Array }
        yield* rows(q.update(leaves()).set(set).where(eq(leaves().idx, leaf)).returning())
      })
    const flipped = (bytes: Uint8Array, at: number) => {
      const changed = bytes.slice()
      changed[at] = (changed[at] ?? 0) ^ 1
      return changed
    }

    /** The answers of a door that refused, by path. */
    const ask = async (path: string) => {
      const answer = await w.call(path)
      const text = await answer.text()
      const refused = answer.status === 200 ? undefined : (JSON.parse(text) as Refused).error
      return { status: answer.status, refused }
    }
    const proofs = () =>
      Promise.all(receipts.map((id) => ask(`/v1/receipts/${id}/proof`).then((one) => one)))
    const tiles = () =>
      Promise.all(
        [
          tilePath({ level: 0, index: 0, width: size }),
          tilePath({ level: 'entries', index: 0, width: size }),
        ].map((path) => ask(`/log/${path}`)),
      )
    const paths = () =>
      Promise.all(
        Array.from({ length: size - 1 }, (_, i) => ask(`/v1/anchors?from=${i + 1}&to=${size}`)),
      )

    const damages: {
      what: string
      leaf: number
      make: (row: Row) => Partial<Row> | 'gone'
    }[] = [
      {
        what: 'the hash of a leaf on the left',
        leaf: 6,
        make: (r) => ({ hashes: flipped(r.hashes, 3) }),
      },
      {
        what: 'the hash of a leaf on the right',
        leaf: 9,
        make: (r) => ({ hashes: flipped(r.hashes, 31) }),
      },
      {
        what: 'the hash of the newest leaf',
        leaf: 22,
        make: (r) => ({ hashes: flipped(r.hashes, 0) }),
      },
      { what: 'a subtree', leaf: 7, make: (r) => ({ hashes: flipped(r.hashes, 64) }) },
      { what: 'the length of a row', leaf: 11, make: (r) => ({ hashes: r.hashes.slice(0, 40) }) },
      { what: 'the kind of a leaf', leaf: 13, make: () => ({ kind: 3 }) },
      { what: 'a whole row, which is gone', leaf: 4, make: () => 'gone' },
    ]

    for (const { what, leaf, make } of damages) {
      test(`nothing false is served when ${what} changed, and the leaf is named`, async () => {
        const row = await rowOf(leaf)
        const change = make(row)
        if (change === 'gone') {
          await w.db.write(function* (q) {
            yield* rows(q.delete(leaves()).where(eq(leaves().idx, leaf)).returning())
          })
        } else await write(leaf, change)
        const answers = [...(await proofs()), ...(await tiles()), ...(await paths())]
        const refused = answers.filter(({ status }) => status !== 200)
        expect(refused.length).toBeGreaterThan(0)
        for (const { status, refused: error } of refused) {
          // A receipt whose leaf is gone waits for another, which it never gets while that is so.
          if (change === 'gone' && error?.type === 'unavailable') continue
          expect([status, error?.type, error?.metadata?.leaf]).toEqual([503, 'log_damaged', leaf])
          expect(error?.message).toContain(`Leaf ${leaf} of the log`)
        }
        // The door that found it says so, and so does a reading of all leaves.
        expect(w.deps.health.logDamage?.leaf).toBe(leaf)
        expect((await readWholeLogs(w.db, true)).faults[0]).toContain(`leaf ${leaf}`)
        w.deps.health.logDamage = null
        await pass()
        expect(w.deps.health.logDamage as unknown).toMatchObject({ leaf })
        const status = await (await w.call('/v1/status')).json()
        expect([status.status, status.log.damaged_leaf]).toEqual(['degraded', leaf])
        // Put back.
        if (change === 'gone') {
          await w.db.write(() => insert(leaves(), [row as never]))
        } else await write(leaf, row)
        await pass()
        expect(w.deps.health.logDamage).toBeNull()
        for (const { status } of [...(await proofs()), ...(await tiles()), ...(await paths())]) {
          expect(status).toBe(200)
        }
      })
    }

    test('a digest that changed in the row of its run is found', async () => {
      const { runs } = w.db.tables
      const { runId } = await rowOf(10)
      const named = eq(runs.id, runId ?? '')
      const [run] = await w.db.read((q) => rows(q.select().from(runs).where(named)))
      const other = flipped(run?.digest ?? new Uint8Array(32), 5)
      const set = (digest: Uint8Array) =>
        w.db.write(function* (q) {
          yield* rows(q.update(runs).set({ digest }).where(named).returning({ id: runs.id }))
        })
      await set(other)
      const [, entries] = await tiles()
      expect([entries?.status, entries?.refused?.metadata?.leaf]).toEqual([503, 10])
      expect((await readWholeLogs(w.db, true)).faults[0]).toContain('leaf 10')
      await set(flipped(other, 5))
      expect((await readWholeLogs(w.db, true)).faults).toEqual([])
    })

    test('a signed root that changed is found, and proves nothing', async () => {
      const { logCheckpoints: heads } = w.db.tables
      const newest = await w.deps.checkpoints.latest(w.deps.settings.issuer)
      const root = newest?.root ?? new Uint8Array(32)
      const set = (root: Uint8Array) =>
        w.db.write(function* (q) {
          yield* rows(q.update(heads).set({ root }).where(eq(heads.size, size)).returning())
        })
      await set(flipped(root, 1))
      const answers = await proofs()
      expect([...new Set(answers.map(({ status }) => status))]).toEqual([503])
      expect((await readWholeLogs(w.db, true)).faults[0]).toContain(`at ${size} leaves`)
      await set(root)
    })

    /** One pass of the background job over the log. */
    async function pass(): Promise<void> {
      const check = logChecker(w.deps, (log) => logReading(w.db, log, true))
      await check()
    }
  })
}
