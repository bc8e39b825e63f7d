import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueKey } from '../../../src/access/keys/issue.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { revokeKey } from '../../../src/access/keys/revoke.ts'
import type { WebhookConfig } from '../../../src/config/webhook-entries.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { newAccount } from '../../ledger/office.ts'
import { startReceiver } from '../../support/event-receiver.ts'
import { type Node, startNode } from '../../support/node.ts'
import { emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { promise } from '../../support/promise.ts'
import { until } from '../../support/runs.ts'

setDefaultTimeout(120_000)

describe.skipIf(!postgresServer)('two nodes of one service with a webhook', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-nodes-'))
  const receiver = startReceiver()
  afterAll(async () => {
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const secret = `whsec_${Buffer.alloc(32, 6).toString('base64')}`
  const types = ['key.created', 'key.paused', 'key.revoked'] as const
  const hook = (path: string): WebhookConfig => {
    receiver.trust(path, secret)
    const url = receiver.url(path)
    return { id: path.slice(1), url, events: [...types], format: 'standard', secret }
  }

  /** A key lives through changes at either node: six events. */
  const live = async (nodes: Node[], turn: number): Promise<void> => {
    const at = (step: number) => (nodes[(turn + step) % nodes.length] as Node).deps
    const account = newAccount()
    const told = { reason: 'test', actor: 'test' }
    await grantCredit(at(0), { account, amount: 1000n, ...told })
    const wish = { account, name: 'test', capLimit: 1000n, actor: 'test' }
    for (let i = 0; i < 2; i++) {
      const { key } = await issueKey(at(i), { ...wish, capWindow: 'lifetime' })
      const keyId = key.id
      await pauseKey(at(i + 1), { keyId, actor: 'test' })
      await resumeKey(at(i), { keyId, actor: 'test' })
      await revokeKey(at(i + 1), { keyId, actor: 'test' })
    }
  }
  const ids = () => receiver.arrivals.map(({ id }) => id)
  const orderOf = () =>
    [...Map.groupBy(receiver.arrivals, ({ subject }) => subject).values()].map((all) => {
      const first = [...Map.groupBy(all, ({ id }) => id).values()].flatMap(([one]) => one ?? [])
      return first.map(({ body }) => JSON.parse(body).type).join()
    })

  promise`E19 H: Of several nodes one sends; what a node that slept says later undoes nothing.`
  test('sends each event once under load, and at least once where the one that sends stops.', async () => {
    const { url, drop } = await emptyDatabase()
    const webhooks = [hook('/one')]
    const nodes = [
      await startNode({ data: join(folder, 'a'), url, webhooks }),
      await startNode({ data: join(folder, 'b'), url, webhooks }),
    ]
    const work = async (count: number, from = 0) => {
      for (let i = 0; i < count; i += 5) {
        await Promise.all([0, 1, 2, 3, 4].map((n) => live(nodes, from + i + n)))
      }
    }
    try {
      await work(40)
      await until('all events', () => new Set(ids()).size === 240, 60_000)
      await Bun.sleep(500)
      expect(ids().length).toBe(240)
      expect(new Set(orderOf())).toEqual(new Set([types.join()]))
      // The node that sends goes while there is much to send.
      const working = work(40, 40)
      await until('some more', () => ids().length > 280, 60_000)
      await working
      const [first, second] = nodes as [Node, Node]
      const lease = await first.deps.webhooks.takeLease()
      const sending = lease ? first : second
      nodes.splice(nodes.indexOf(sending), 1)
      const more = work(20, 80)
      await sending.stop()
      await more
      await until('the rest', () => new Set(ids()).size === 600, 60_000)
      expect(new Set(orderOf())).toEqual(new Set([types.join()]))
      expect(receiver.arrivals.every(({ isSigned }) => isSigned)).toBe(true)
    } finally {
      for (const node of nodes) await node.stop()
      await drop()
    }
  })
})
