import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../src/kernel/hex.ts'
import { leafHash, leafKinds } from '../../src/verify/merkle.ts'
import { grant, type Home, makeHome, makeKey, noBinary, type Server } from '../support/binary.ts'
import { type EmptyDatabase, emptyDatabase, postgresServer } from '../support/postgres.ts'
import { fault, promise } from '../support/promise.ts'

/** More than a lease lasts, so that the other node takes over. */
const frozenMs = 13_000

const run = { model: 'counterfoil/echo-1', input: 'hello' }

type Run = { place: string | null; digest: Uint8Array | null; id: string }
type Leaf = { idx: string; kind: number; hashes: Uint8Array }

describe.skipIf(noBinary || !postgresServer)('two nodes on one PostgreSQL', () => {
  const homes: Home[] = []
  const nodes: Server[] = []
  let database: EmptyDatabase
  let sql: Bun.SQL
  let secret = ''

  beforeAll(async () => {
    database = await emptyDatabase()
    sql = database.sql
    const first = await makeHome(`database_url = "${database.url}"\n`)
    const second = await makeHome(`database_url = "${database.url}"\n`)
    homes.push(first, second)
    const node = await first.start()
    await grant(first, '100.00')
    secret = (await makeKey(first)).secret
    // The first leaf gives the log its origin, whatever the second node is called.
    await (await node.call('/v1/runs', { key: secret, json: run })).text()
    mkdirSync(second.data, { mode: 0o700 })
    copyFileSync(join(first.data, 'signer.key'), join(second.data, 'signer.key'))
    nodes.push(node, await second.start())
  }, 60_000)
  afterAll(async () => {
    for (const home of homes) await home.remove()
    await database?.drop()
  }, 30_000)

  promise`G10`
  fault`22: the process is stopped for a minute and goes on → what was in flight ends once [faults
    stopped]`
  test('no index is missing and none is there twice while one is frozen past its lease and comes back', async () => {
    const [sleeper, other] = nodes
    if (!sleeper || !other) throw new Error('no nodes')
    const answered: string[] = []
    let isOver = false
    const load = async (node: Server) => {
      while (!isOver) {
        const answer = await node.call('/v1/runs', { key: secret, json: run })
        if (answer.status === 200) answered.push((await answer.json()).receipt.id)
        else await answer.body?.cancel()
      }
    }
    const workers = [sleeper, other].flatMap((node) => Array.from({ length: 4 }, () => load(node)))
    // Twice: the node that numbers is frozen, whichever of both that is.
    for (const node of [sleeper, other]) {
      await Bun.sleep(1000)
      node.signal('SIGSTOP')
      await Bun.sleep(frozenMs)
      node.signal('SIGCONT')
    }
    await Bun.sleep(1000)
    isOver = true
    await Promise.all(workers)
    await untilNumbered()
    const runs: Run[] = await sql`
      select runs.id, idx as place, digest
      from runs left join log_leaves on run_id = runs.id order by idx`
    const leaves: Leaf[] = await sql`select idx, kind, hashes from log_leaves order by idx`
    expect(leaves.map(({ idx }) => Number(idx))).toEqual(leaves.map((_, i) => i))
    const receipts = leaves.filter(({ kind }) => kind === leafKinds.receipt)
    expect(runs.map(({ place }) => Number(place ?? -1))).toEqual(
      receipts.map(({ idx }) => Number(idx)),
    )
    for (const [i, { digest }] of runs.entries()) {
      const stored = new Uint8Array(receipts[i]?.hashes.subarray(0, 32) ?? [])
      expect(toHex(stored)).toBe(toHex(leafHash(leafKinds.receipt, digest ?? new Uint8Array())))
    }
    expect(answered.length).toBeGreaterThan(20)
    for (const id of answered.filter((_, i) => i % Math.ceil(answered.length / 20) === 0)) {
      for (const node of [sleeper, other]) {
        const file = await node.get(`/v1/receipts/${id}`, secret)
        const verdict = await node.call('/v1/receipts/verify', { json: file })
        expect(await verdict.json()).toMatchObject({ valid: true, level: 'logged' })
      }
    }
  }, 120_000)

  /** Until no run is open and none waits for its number. */
  async function untilNumbered(): Promise<void> {
    for (const until = performance.now() + 30_000; performance.now() < until; ) {
      const [left] = await sql`
        select (select count(*) from open_runs) + (select count(*) from unnumbered_batches) as open`
      if (Number(left.open) === 0) return
      await Bun.sleep(100)
    }
    throw new Error('runs are left without a number')
  }
})
