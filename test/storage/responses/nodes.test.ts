import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { type Scripted, said, startScripted } from '../../support/scripted-upstream.ts'
import { fundedKey, type Node, startNode } from '../../support/services.ts'
import { freshDbWithClock, sharedEngines } from '../../support/world.ts'
import { keptToml } from './kept.ts'

setDefaultTimeout(60_000)

describe.each(sharedEngines)('two nodes on one %s', (engine) => {
  let scripted: Scripted
  let fresh: { db: Db; drop(): Promise<void> }
  const nodes: Node[] = []
  let key = ''
  beforeAll(async () => {
    scripted = await startScripted()
    fresh = await freshDbWithClock(engine)
    for (let at = 0; at < 2; at++) {
      nodes.push(await startNode(fresh.db, { toml: keptToml(scripted.url) }))
    }
    const [first] = nodes
    if (first) key = await fundedKey(first)
  })
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await fresh.db.close()
    await fresh.drop()
    await scripted.stop()
  })

  test.each([false, true])(
    'one goes on at once with what the other answered (stream %p)',
    async (stream) => {
      let previous: string | undefined
      for (let turn = 0; turn < 6; turn++) {
        const json = {
          model: 'openai/agent',
          input: `turn ${turn}`,
          stream,
          ...(previous === undefined ? {} : { previous_response_id: previous }),
        }
        const answer = await nodes[turn % 2]?.call('/v1/responses', { key, json })
        const text = (await answer?.text()) ?? ''
        expect([answer?.status, text.includes(said[0] ?? '')]).toEqual([200, true])
        previous = /"id":"(resp_\w+)"/.exec(text)?.[1]
      }
      const read = JSON.stringify(scripted.account.at(-1)?.body)
      for (let turn = 0; turn < 6; turn++) expect(read).toContain(`turn ${turn}`)
    },
  )
})
