/** A node of a build from before slots could move serves the shard that a slot leaves. */
import { join } from 'node:path'
import { freePort } from '../../test/binary/nodes.ts'
import { startBalancer } from '../../test/packaging/balancer.ts'
import { binary, type Home, type Server } from '../../test/support/binary.ts'
import { until } from '../../test/support/runs.ts'
import type { Wish } from './clients.ts'
import type { Claim, SceneResult } from './scene.ts'
import { type Shard, startShards, type Undo } from './shards.ts'
import { judgeAudit, judgeMoney, openAccounts, slot } from './slot-move-scene.ts'

/** Runs of the older node before the slot moves, and refusals of it afterwards. */
const phase = 200
const patienceMs = 20_000
const giveUpMs = 120_000
const pauseMs = 100

export const olderNodeScene = {
  name: 'an older build is a node of the shard that a slot leaves',
  expected:
    'the move waits for its runs or is given up; from the moment on in which the slot was taken ' +
    'out, the older node has no key of the accounts, and the database refuses it all their ' +
    'money; both ledgers come to what was granted',
}

export async function playOlderNode(older: string): Promise<SceneResult> {
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const undo: Undo = []
  try {
    return { ...olderNodeScene, seen: await play(older, claim, undo), faults }
  } catch (error) {
    return { ...olderNodeScene, seen: '', faults: [...faults, `the scene broke off: ${error}`] }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function play(older: string, claim: Claim, undo: Undo): Promise<string> {
  const port = freePort()
  const shards = await startShards(`http://127.0.0.1:${port}`, undo)
  const [s3, s4] = shards as [Shard, Shard]
  const [home, olderHome] = s3.homes as [Home, Home]
  await s3.nodes[1]?.stop()
  olderHome.executable = older
  const node = await olderHome.start({ port: s3.nodes[1]?.port ?? freePort() })
  s3.nodes[1] = node
  const host = `127.0.0.1:${port}`
  const nodes = shards.flatMap((shard) => shard.nodes)
  const config = 'packaging/haproxy-shards.cfg'
  undo.push((await startBalancer('haproxy', config, nodes, { port, host })).stop)
  await until('the older node to find a newer schema', async () => {
    const { database } = await (await node.call('/v1/status')).json()
    return database.migrated === 'newer'
  })

  const accounts = await openAccounts(s3)
  const load = startAsking(
    node,
    accounts.map(({ secret }) => secret),
  )
  undo.push(load.stop)
  const paid = () => load.asked.filter((one) => one.paid).length
  await until('runs of the older node', () => paid() > phase, giveUpMs)
  const toConfig = join((s4.homes[0] as Home).folder, 'counterfoil.toml')
  const move = () => home.cli('slot', 'move', `${slot}`, '--to-config', toConfig, '--wait', '5')
  let tries = 1
  let done = await move()
  // The older node begins runs in a slot that is stopped: its clients rest now and then.
  while (done.code !== 0 && tries < 10) {
    load.rest(3000)
    tries++
    done = await move()
  }
  const movedAt = performance.now()
  claim(done.code === 0, `the move ended with ${done.code}: ${done.stderr}`)
  const refusals = load.refusals.length
  await until('refusals', () => load.refusals.length > refusals + phase, giveUpMs)
  const some = accounts[0]?.account ?? ''
  const granted = await olderHome.cli('grant', some, '1.00', '--reason', 'drill')
  claim(granted.code !== 0, 'the older build granted credit to an account that left')
  const why = /check constraint "(\w+)"/.exec(granted.stderr)?.[1]
  claim(why === 'accounts_left', `the older build was refused otherwise: ${granted.stderr}`)
  await load.stop()
  // It knows of no moves, so an audit would find the shard silent about them.
  await node.stop()
  olderHome.executable = binary
  await olderHome.start({ port: node.port })

  const late = load.asked.filter(({ askedAt, paid }) => paid && askedAt > movedAt)
  claim(late.length === 0, `the older node charged ${late.length} runs after the move`)
  const sums = await judgeMoney([s3, s4], load.asked, claim)
  const audited = await judgeAudit(home, claim)
  return [
    `${paid()} runs by the older node, which says that the schema is newer; moved at try ${tries}`,
    `afterwards it says ${toldOf(load.refusals.slice(refusals))}`,
    `its \`grant\` breaks the constraint \`${why}\` of the database`,
    sums,
    audited,
  ].join('; ')
}

/** Clients of one node that ask on whatever it says, each run under its own Idempotency-Key. */
function startAsking(node: Server, secrets: readonly string[]) {
  const asked: Wish[] = []
  const refusals: string[] = []
  let isOver = false
  let restsUntil = 0
  const client = async (secret: string): Promise<void> => {
    while (!isOver) {
      await Bun.sleep(Math.max(0, restsUntil - performance.now()))
      const idempotencyKey = `drill-${asked.length}`
      const wish: Wish = { idempotencyKey, askedAt: performance.now(), paid: undefined }
      asked.push(wish)
      const refusal = await askOnce(node, secret, wish)
      if (refusal === undefined) continue
      refusals.push(refusal)
      await Bun.sleep(pauseMs)
    }
  }
  const clients = Promise.all(secrets.map(client))
  const rest = (ms: number): void => {
    restsUntil = performance.now() + ms
  }
  const stop = async (): Promise<void> => {
    isOver = true
    await clients
  }
  return { asked, refusals, rest, stop }
}

/** @returns what the node said in place of an answer. */
async function askOnce(node: Server, key: string, wish: Wish): Promise<string | undefined> {
  const answer = await node.call('/v1/runs', {
    key,
    json: { model: 'stub/pace-5', input: 'a drill' },
    headers: { 'idempotency-key': wish.idempotencyKey },
    signal: AbortSignal.timeout(patienceMs),
  })
  const body = await answer.json()
  if (answer.status !== 200) return `${answer.status} ${body.error.type}`
  const { id, receipt } = body
  wish.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd, at: performance.now() }
  return undefined
}

function toldOf(refusals: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const one of refusals) counts.set(one, (counts.get(one) ?? 0) + 1)
  return [...counts].map(([what, times]) => `${times} × ${what}`).join(', ')
}
