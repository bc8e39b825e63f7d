import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { openDatabase } from '../../../src/app/open-database.ts'
import { openLogOffice } from '../../../src/app/open-log.ts'
import { lookAtLog } from '../../../src/cli/doctor-log.ts'
import { reopenLog } from '../../../src/proof/log/reopen.ts'
import { reopenings } from '../../../src/proof/log/store/reopen.ts'
import { reissued } from '../../../src/proof/receipts/receipt.ts'
import { countLost } from '../../../src/proof/receipts/store/lost.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { nodeLease } from '../../../src/storage/db/engine/lease.ts'
import { copyDatabase } from '../../../src/storage/db/files/backup.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type Node, startNode } from '../../support/node.ts'
import { postgresServer } from '../../support/postgres.ts'
import { promise } from '../../support/promise.ts'
import { type Rewindable, rewindable } from '../../support/rewind.ts'
import { until } from '../../support/runs.ts'
import { testPrivateKey } from '../../support/world.ts'

setDefaultTimeout(60_000)

/** Every head that anyone was given: of one log and size there is one root. */
function headsSeen() {
  const roots = new Map<string, string>()
  const note = (issuer: string, size: string | number, root: string) => {
    expect(`${size} ${root}`).toBe(`${size} ${roots.get(`${issuer} ${size}`) ?? root}`)
    roots.set(`${issuer} ${size}`, root)
  }
  return { note }
}

type Seen = ReturnType<typeof headsSeen>

/** Runs something, and gets its receipt with its proof. */
async function receiptOf(node: Node, key: string, seen: Seen): Promise<string> {
  const id = await node.run(key)
  // A busy server may number it later than a read waits.
  const read = () => node.call(`/v1/receipts/${id}`, key).then((answer) => answer.json())
  const { checkpoint } = await until('its proof', async () => (await read()).proof, 20_000)
  seen.note(checkpoint.issuer, checkpoint.size, checkpoint.root)
  return id
}

async function expectProven(node: Node, key: string, id: string, seen: Seen): Promise<void> {
  const file = await (await node.call(`/v1/receipts/${id}`, key)).json()
  expect([id, file.proof === undefined]).toEqual([id, false])
  seen.note(file.proof.checkpoint.issuer, file.proof.checkpoint.size, file.proof.checkpoint.root)
  const verdict = await (await node.call('/v1/receipts/verify', key, file)).json()
  expect([id, verdict.valid, verdict.level]).toEqual([id, true, 'logged'])
}

/** Every probe says so, and nothing new is begun. */
async function expectDiverged(node: Node, key: string): Promise<void> {
  // While a connection is broken, and until the log was compared, it is only unavailable.
  const isTold = async () => {
    const ready = await node.call('/readyz')
    return ready.status === 503 && (await ready.json()).error.type === 'log_diverged'
  }
  await until('the node to say so', isTold, 10_000)
  const status = await (await node.call('/v1/status')).json()
  expect([status.status, status.log.status]).toEqual(['degraded', 'diverged'])
  const run = await node.call('/v1/runs', key, { model: 'counterfoil/echo-1', input: 'hello' })
  expect([run.status, (await run.json()).error.type]).toEqual([503, 'log_diverged'])
  expect(node.events().filter((event) => event === 'log.diverged')).toHaveLength(1)
}

/** A node that starts beside others hears for two seconds what they know. */
const untilReady = (node: Node) =>
  until('the node to be ready', async () => (await node.call('/readyz')).status === 200, 20_000)

async function expectIssuing(node: Node, key: string, issuer: string): Promise<string> {
  await untilReady(node)
  const id = await node.run(key)
  const { receipt } = await (await node.call(`/v1/receipts/${id}`, key)).json()
  expect(receipt.issuer).toBe(issuer)
  return id
}

/** `log reopen`, with all servers stopped. */
async function reopen(node: Node) {
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const office = await openLogOffice(node.config, log)
  const stores = { reopenings: reopenings(office.db, office.logStore), reissue: reissued }
  const deps = { ...office, ...stores, signer: signerFromHex(testPrivateKey) }
  return reopenLog(deps, { reason: 'a test' }).finally(office.close)
}

async function expectOneHistory(node: Node, seen: Seen): Promise<void> {
  const { logCheckpoints } = node.db.tables
  const stored = await node.db.read((q) => rows(q.select().from(logCheckpoints)))
  for (const { issuer, size, root } of stored) {
    seen.note(issuer, size, `0x${Buffer.from(root).toString('hex')}`)
  }
}

promise`N4 C: A database that lost commits is noticed by every node before anything new is begun,
  numbered or signed, also after a restart of all; no head ever contradicts another.`
describe.skipIf(!postgresServer)('a PostgreSQL database that goes back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-forgets-'))
  let database: Rewindable
  const nodes: Node[] = []
  let key = ''
  let stored: string[] = []
  let forgotten: string[] = []
  let seen = headsSeen()
  const start = async (...names: string[]) => {
    for (const name of names) {
      nodes.push(await startNode({ data: join(folder, name), url: database.url }))
    }
  }
  const stop = async () => {
    for (const node of nodes.splice(0)) await node.stop()
  }
  const node = (at: number) => nodes[at] as Node

  beforeAll(async () => {
    database = await rewindable()
  })
  afterAll(async () => {
    await stop()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Receipts that will be kept, the last of them under no head, and some that will be lost. */
  const issue = async () => {
    ;[stored, forgotten, seen] = [[], [], headsSeen()]
    for (const one of nodes) await untilReady(one)
    for (const one of nodes) stored.push(await receiptOf(one, key, seen))
    for (const one of nodes) stored.push(await one.run(key))
    await Promise.all(nodes.map((one) => one.deps.sequencer.flush()))
    await database.keep()
    for (const one of nodes) await untilReady(one)
    for (let i = 0; i < 4; i++)
      for (const one of nodes) forgotten.push(await receiptOf(one, key, seen))
  }

  test('connections that break cost no run where nothing was forgotten', async () => {
    await start('a', 'b')
    key = await node(0).key()
    await issue()
    expect(nodes.flatMap((one) => one.events())).not.toContain('log.diverged')
    for (const one of nodes) expect((await one.call('/readyz')).status).toBe(200)
  })

  test('is found out by every running node within 10 s, and nothing is signed or numbered', async () => {
    const before = performance.now()
    await database.rewind()
    for (const one of nodes) await expectDiverged(one, key)
    expect(performance.now() - before).toBeLessThan(10_000)
    const size = await node(0).deps.logStore.size()
    // Longer than any job of a node waits.
    await Bun.sleep(5500)
    expect(await node(1).deps.logStore.size()).toBe(size)
    await expectOneHistory(node(0), seen)
    for (const id of forgotten) {
      expect((await node(0).call(`/v1/receipts/${id}`, key)).status).toBe(404)
    }
  })

  test('has its lost receipts listed by the nodes that acknowledged them', async () => {
    const listed: string[] = []
    for (const one of nodes) {
      await until('the list', () => one.events().includes('log.receipts_lost'))
      const path = join(one.config.data, 'lost-receipts.jsonl')
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const lines = readFileSync(path, 'utf8').trim().split('\n')
      expect(countLost(one.config.data)).toBe(lines.length)
      listed.push(...lines.map((line) => JSON.parse(line).receipt_id))
    }
    expect(listed.sort()).toEqual([...forgotten].sort())
  })

  test('leaves what was issued before and is stored its proofs, after log reopen', async () => {
    const left = node(0)
    const issuer = node(0).deps.settings.issuer
    await stop()
    const reopened = await reopen(left)
    expect(reopened.lost?.size).toBeGreaterThan(reopened.last.size)
    await start('a', 'b')
    for (const one of nodes) await expectIssuing(one, key, `${issuer}#2`)
    for (const id of stored) await expectProven(node(1), key, id, seen)
    await expectOneHistory(node(0), seen)
  })

  test('begins nothing on a node before those that know more had the time to say so', async () => {
    // One that is away for a moment still counts as alive, for as long as a busy machine needs.
    const { leases } = node(0).db.tables
    const expiresAt = node(0).deps.leaseClock.now() + 120_000
    const away = { name: nodeLease('away'), holder: 'away', epoch: 1, expiresAt }
    await node(0).db.write((q) => rows(q.insert(leases).values(away).returning()))
    await until('it to be counted', () => node(1).deps.settings.nodes === 3)
    await database.keep()
    for (let i = 0; i < 3; i++) await receiptOf(node(0), key, seen)
    // Only this node knows of the loss.
    const [knowing] = nodes.splice(0, 1)
    await knowing?.stop()
    await database.rewind()
    const answers = new Set<number>()
    const ask = async () => {
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      answers.add((await node(0).call('/v1/runs', key, json)).status)
      return node(0).events().includes('log.diverged')
    }
    const from = performance.now()
    await until('some answers', async () => (await ask()) || performance.now() > from + 200)
    await start('a')
    await until('it to say so', ask, 10_000)
    expect([...answers]).toEqual([503])
    const isAway = eq(leases.holder, 'away')
    await node(0).db.write((q) => rows(q.delete(leases).where(isAway).returning()))
    await stop()
    // For 10 s the database that went back names nodes that lived then.
    const left = knowing as Node
    await until('all to be gone', () => reopen(left).catch(() => undefined), 15_000)
    await start('a', 'b')
  })

  test('is found out at the start where all nodes were restarted', async () => {
    await issue()
    await stop()
    await database.rewind()
    await start('a', 'b')
    for (const one of nodes) await expectDiverged(one, key)
    await expectOneHistory(node(0), seen)
  })

  test('is found out by a node with an empty data folder, from one that knows', async () => {
    const left = node(0)
    await stop()
    // For 10 s the database that went back names nodes that lived then.
    await until('all to be gone', () => reopen(left).catch(() => undefined), 15_000)
    await start('a', 'b')
    await issue()
    await stop()
    await database.rewind()
    // It comes first, and knows nothing: no one can tell what it numbers or signs now.
    await start('empty')
    await untilReady(node(0))
    await start('a')
    for (const one of nodes) await expectDiverged(one, key)
    await start('also-empty')
    await expectDiverged(node(2), key)
  })
})

promise`N4`
describe('an old SQLite file that is put back under its data folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-forgets-'))
  const back = join(folder, 'back')
  let node: Node
  let key = ''
  let stored = ''
  const seen = headsSeen()
  beforeAll(async () => {
    node = await startNode({ data: folder })
    key = await node.key()
    stored = await receiptOf(node, key, seen)
    mkdirSync(back, { mode: 0o700 })
    copyDatabase(join(folder, 'counterfoil.db'), join(back, 'counterfoil.db'))
    for (let i = 0; i < 3; i++) await receiptOf(node, key, seen)
    await node.stop()
    copyFileSync(join(folder, 'heads.json'), join(back, 'heads.json'))
    node = await startNode({ data: back })
  })
  afterAll(async () => {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('is found out without a chain, and the log says once what to do', async () => {
    await expectDiverged(node, key)
    const told = node.logged.find(({ event }) => event === 'log.diverged')
    expect(JSON.stringify(told?.fields)).toContain('counterfoil log reopen')
    expect(JSON.stringify(told?.fields)).toContain(join(back, 'heads.json'))
  })

  test('its heads lie in a file of their owner, which holds no secret', () => {
    const path = join(back, 'heads.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { heads } = JSON.parse(readFileSync(path, 'utf8'))
    expect(Object.keys(heads[0])).toEqual(['issuer', 'size', 'root', 'timestamp', 'signature'])
  })

  test('doctor finds it, and says that all is well of the right file', async () => {
    const parts = async (data: string) => {
      const database_url = `sqlite:${join(data, 'counterfoil.db')}`
      const config = { ...node.config, data, database_url }
      const { db } = await openDatabase(config, { mayCreate: true })
      const found = await lookAtLog(config, db).finally(() => db.close())
      return found.map(({ part, status }) => `${part}: ${status}`)
    }
    expect(await parts(back)).toEqual(['log: fail'])
    expect(await parts(folder)).toEqual(['log: ok'])
  })

  test('after log reopen issues again, and what is stored keeps its proof', async () => {
    const { issuer } = node.deps.settings
    await node.stop()
    await reopen(node)
    node = await startNode({ data: back })
    await expectIssuing(node, key, `${issuer}#2`)
    await expectProven(node, key, stored, seen)
    await expectOneHistory(node, seen)
  })
})
