import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { ensureLogs } from '../../../src/proof/log/store/logs.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { pricedBuiltins, until } from '../../support/runs.ts'
import { fundedKey, type Node, startNode } from '../../support/services.ts'
import { freshDbWithClock, sharedEngines } from '../../support/world.ts'

setDefaultTimeout(60_000)

const [one, two] = ['https://one.example', 'https://two.example']

describe.each(sharedEngines)('an empty log on %s and two servers with two base_urls', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDbWithClock>>
  let nodes: Node[] = []
  beforeEach(async () => {
    fresh = await freshDbWithClock(engine)
  })
  afterEach(async () => {
    for (const node of nodes) await node.stop()
    nodes = []
    await fresh.db.close()
    await fresh.drop()
  })

  const start = async (baseUrl: string): Promise<Node> => {
    const node = await startNode(fresh.db, { baseUrl, toml: pricedBuiltins })
    nodes.push(node)
    return node
  }
  const stop = async (node: Node) => {
    nodes = nodes.filter((other) => other !== node)
    await node.stop()
  }
  const runOn = async (node: Node, key: string) => {
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    return (await node.call('/v1/runs', { key, json })).status
  }
  const named = async () => {
    const { logs } = fresh.db.tables
    return (await fresh.db.read((q) => rows(q.select().from(logs)))).map(({ origin }) => origin)
  }

  promise`N3 H: Two servers never issue receipts under two names in one log.`
  test('one after the other: the second is refused, names both and what to do; the first serves', async () => {
    const first = await start(one)
    expect(await outcomeOf(start(two))).toThrow(
      new RegExp(
        `named ${one}, and the server node_\\w+ runs on it, but base_url here is ${two}: give`,
      ),
    )
    const key = await fundedKey(first)
    expect(await runOn(first, key)).toBe(200)
    expect(await named()).toEqual([one])
  })

  promise`N3`
  test('at once: exactly one of them starts, whichever it is, and issues receipts', async () => {
    for (let round = 0; round < 5; round++) {
      const started = await Promise.allSettled([start(one), start(two)])
      const refused = started.filter((result) => result.status === 'rejected')
      expect(refused.map(({ reason }) => String(reason))).toEqual([
        expect.stringMatching(/named https:\/\/(one|two)\.example, and .* base_url here is https:/),
      ])
      const [winner] = nodes
      if (!winner) throw new Error('none started')
      expect(await named()).toEqual([winner.deps.settings.issuer])
      await stop(winner)
    }
    const last = await start(two)
    const key = await fundedKey(last)
    expect(await runOn(last, key)).toBe(200)
  })

  promise`N3`
  test('a wrong first base_url is changed by the next start while nothing was issued, and not later', async () => {
    await stop(await start(one))
    const second = await start(two)
    expect(second.deps.settings.issuer).toBe(two)
    const key = await fundedKey(second)
    expect(await runOn(second, key)).toBe(200)
    await stop(second)
    // From its first receipt on, the log keeps its name; a new base_url changes links alone.
    expect((await start(one)).deps.settings.issuer).toBe(two)
  })

  promise`N3`
  test('A server that slept while another renamed the log issues no receipt under the old name.', async () => {
    const asleep = await start(one)
    const key = await fundedKey(asleep)
    const later = asleep.deps.leaseClock.now() + 60_000
    await fresh.db.write((q) => ensureLogs(fresh.db, q, two, later))
    expect(await runOn(asleep, key)).toBe(500)
    const ended = await fresh.db.read((q) => rows(q.select().from(fresh.db.tables.runs)))
    expect(ended.filter(({ finishedAt }) => finishedAt !== null)).toEqual([])
    // Nor does it after the first receipt under the new name.
    const other = await start(two)
    expect(await runOn(other, key)).toBe(200)
    await until('the first leaf', async () => (await other.deps.logStore.size()) > 0)
    expect(await runOn(asleep, key)).toBe(500)
  })
})
