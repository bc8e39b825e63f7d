import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Node, startNode } from '../support/node.ts'
import { postgresServer } from '../support/postgres.ts'
import { type Rewindable, rewindable } from '../support/rewind.ts'
import { until } from '../support/runs.ts'

describe.skipIf(!postgresServer)('a PostgreSQL server that goes back under running nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-forgets-'))
  let database: Rewindable
  const nodes: Node[] = []
  let key = ''
  beforeAll(async () => {
    database = await rewindable()
    for (const name of ['a', 'b']) {
      nodes.push(await startNode({ data: join(folder, name), url: database.url }))
    }
    key = (await nodes[0]?.key()) ?? ''
  }, 60_000)
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }, 60_000)

  test('is found out', async () => {
    const all = async <T>(work: (node: Node) => Promise<T>) => Promise.all(nodes.map(work))
    const file = async (node: Node, id: string) =>
      (await node.call(`/v1/receipts/${id}`, key)).json()
    const ids = await all((node) => node.run(key))
    for (const id of ids) expect((await file(nodes[0] as Node, id)).proof).toBeDefined()
    await database.keep()
    await until(
      'all to be compared',
      () => nodes.every((n) => n.deps.health.heads === 'ok'),
      10_000,
    )
    for (let i = 0; i < 5; i++) {
      const [id] = await all((node) => node.run(key))
      expect((await file(nodes[1] as Node, id ?? '')).proof).toBeDefined()
    }
    console.log(nodes.map((n) => n.deps.heads.newest()?.size))
    await database.rewind()
    const at = performance.now()
    await until(
      'all to say so',
      () => nodes.every((n) => n.deps.health.heads === 'diverged'),
      10_000,
    )
    console.log('diverged after', performance.now() - at)
    for (const node of nodes) {
      const answer = await node.call('/v1/runs', key, { model: 'counterfoil/echo-1', input: 'x' })
      console.log(answer.status, await answer.text())
      console.log(await (await node.call('/readyz')).text())
      console.log(await (await node.call('/v1/status')).text())
      console.log(node.events().join(' '))
    }
  }, 60_000)
})
