/** A slot moves to another shard and back under load, while a node is killed. */
import { join } from 'node:path'
import { issueKey } from '../../src/access/keys/issue.ts'
import { openOffice } from '../../src/app/open-office.ts'
import { slotOf } from '../../src/kernel/shard.ts'
import { grantCredit } from '../../src/ledger/grant.ts'
import { startBalancer } from '../../test/packaging/balancer.ts'
import type { Home } from '../../test/support/binary.ts'
import { freePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/runs.ts'
import type { Wish } from './clients.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import type { Claim, SceneResult } from './scene.ts'
import { configOf, type Shard, startShards, type Undo } from './shards.ts'

const slot = 300
const accountCount = 12
const granted = 1_000_000_000n
const workers = 8
/** Runs between two events, and of all. */
const phase = 300
/** How long a client waits for an answer, how long it pauses, and how long it asks, in ms. */
const patienceMs = 20_000
const giveUpMs = 180_000

export const slotMoveScene = {
  name: 'two shards: a slot moves under load',
  expected:
    'the slot goes to the other shard and back, and each time a node that it leaves is killed; ' +
    'clients that follow 421 see 503 with Retry-After and no other refusal from a node; every ' +
    'run is paid once, and both ledgers come to what was granted',
}

type Asked = Wish & { refused: string[] }

export async function playSlotMove(): Promise<SceneResult> {
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const undo: Undo = []
  try {
    return { ...slotMoveScene, seen: await play(claim, undo), faults }
  } catch (error) {
    return { ...slotMoveScene, seen: '', faults: [...faults, `the scene broke off: ${error}`] }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}

async function play(claim: Claim, undo: Undo): Promise<string> {
  const port = freePort()
  const url = `http://127.0.0.1:${port}`
  const [s3, s4] = (await startShards(url, undo)) as [Shard, Shard]
  const nodes = [...s3.nodes, ...s4.nodes]
  const host = `127.0.0.1:${port}`
  const config = 'packaging/haproxy-shards.cfg'
  const balancer = await startBalancer('haproxy', config, nodes, { port, host })
  undo.push(balancer.stop)
  const load = startLoad(
    url,
    (await openAccounts(s3)).map(({ secret }) => secret),
  )
  undo.push(load.stop)
  await until('runs before', () => load.paid() > phase, giveUpMs)
  const first = await moveBetween(s3, s4)
  claim(first.code === 0, `the move to s4 ended with ${first.code}: ${first.stderr}`)
  const atS4 = load.paid()
  await until('runs on s4', () => load.paid() > atS4 + phase, giveUpMs)
  const second = await moveBetween(s4, s3)
  claim(second.code === 0, `the move back ended with ${second.code}: ${second.stderr}`)
  const atS3 = load.paid()
  await until('runs on s3 again', () => load.paid() > atS3 + phase, giveUpMs)
  await load.stop()
  const seen = [judgeRefusals(load.asked, claim), await judgeMoney([s3, s4], load.asked, claim)]
  seen.push(await judgeAudit(s3.homes[0] as Home, claim))
  const times = [first, second].map(({ tookMs }) => `${(tookMs / 1000).toFixed(1)} s`)
  return [`moved in ${times[0]}, and back in ${times[1]}`, ...seen].join('; ')
}

/** Moves the slot by the command, while a node that it leaves dies. */
async function moveBetween(from: Shard, to: Shard) {
  const startedAt = performance.now()
  const toConfig = join((to.homes[0] as Home).folder, 'counterfoil.toml')
  const args = ['slot', 'move', `${slot}`, '--to-config', toConfig, '--json']
  const moving = (from.homes[0] as Home).cli(...args)
  // Its runs in flight are ended by the other node, once its lease is over.
  await from.nodes[1]?.stop('SIGKILL')
  const done = await moving
  return { ...done, tookMs: performance.now() - startedAt }
}

type Opened = { account: string; secret: string }

/** Funded accounts of the slot, each with a key. */
async function openAccounts({ toml }: Shard): Promise<Opened[]> {
  const office = await openOffice(configOf(toml))
  try {
    const opened: Opened[] = []
    while (opened.length < accountCount) {
      const bytes = crypto.getRandomValues(new Uint8Array(20))
      const account = `0x${Buffer.from(bytes).toString('hex')}`
      if (slotOf(account) !== slot) continue
      await grantCredit(office, { account, amount: granted, reason: 'drill', actor: 'drill' })
      const wish = { account, name: 'drill', capLimit: granted, capWindow: 'lifetime' as const }
      const { secret } = await issueKey(office, { ...wish, actor: 'drill' })
      opened.push({ account, secret })
    }
    return opened
  } finally {
    await office.close()
  }
}

/** Clients that send each run until it is acknowledged, to the shard that an answer named last. */
function startLoad(url: string, secrets: readonly string[]) {
  const asked: Asked[] = []
  let paid = 0
  let isOver = false
  const client = async (_: unknown, index: number): Promise<void> => {
    let shard: string | null = null
    for (let turn = index; !isOver; turn++) {
      const secret = `${secrets[turn % secrets.length]}`
      const idempotencyKey = `drill-${asked.length}`
      const askedAt = performance.now()
      const wish: Asked = { idempotencyKey, askedAt, paid: undefined, refused: [] }
      asked.push(wish)
      while (!wish.paid && performance.now() < askedAt + giveUpMs) {
        shard = await askOnce(url, wish, secret, shard)
      }
      if (wish.paid) paid++
    }
  }
  const clients = Promise.all(Array.from({ length: workers }, client))
  const stop = async (): Promise<void> => {
    isOver = true
    await clients
  }
  return { asked, paid: () => paid, stop }
}

/** Asks once; returns the shard to name the next time. */
async function askOnce(
  url: string,
  wish: Asked,
  secret: string,
  shard: string | null,
): Promise<string | null> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    'idempotency-key': wish.idempotencyKey,
    ...(shard === null ? {} : { 'x-counterfoil-shard': shard }),
  }
  const body = JSON.stringify({ model: 'stub/pace-5', input: 'a drill' })
  const signal = AbortSignal.timeout(patienceMs)
  const answer = await fetch(`${url}/v1/runs`, { method: 'POST', headers, body, signal }).catch(
    () => undefined,
  )
  if (answer?.status === 200) {
    const { id, receipt } = (await answer.json()) as Answer
    wish.paid = { runId: id, receiptId: receipt.id, cost: receipt.cost_nusd, at: performance.now() }
    return shard
  }
  const isNode = answer?.headers.has('x-request-id') === true
  const waitS = answer?.headers.get('retry-after')
  wish.refused.push(answer ? `${answer.status}${isNode ? '' : ' by haproxy'}` : 'cut off')
  if (answer?.status === 421) return answer.headers.get('x-counterfoil-shard')
  if (answer?.status === 503 && isNode && waitS === null)
    wish.refused.push('503 without Retry-After')
  await Bun.sleep(waitS === null || waitS === undefined ? 100 : Number(waitS) * 1000)
  return shard
}

type Answer = { id: string; receipt: { id: string; cost_nusd: number } }

/** A run in flight on a killed node is known as begun until its end; nothing else is refused. */
const allowed = new Set(['421', '503', '409', 'cut off', '502 by haproxy', '503 by haproxy'])

function judgeRefusals(asked: readonly Asked[], claim: Claim): string {
  const counts = new Map<string, number>()
  for (const { refused } of asked) {
    for (const one of refused) counts.set(one, (counts.get(one) ?? 0) + 1)
  }
  for (const [what, times] of counts) claim(allowed.has(what), `${times} answers were ${what}`)
  const lost = asked.filter(({ paid }) => !paid).length
  claim(lost === 0, `${lost} runs were never acknowledged`)
  const told = [...counts].map(([what, times]) => `${times} × ${what}`)
  return `${asked.length} runs acknowledged, answers in between: ${told.join(', ') || 'none'}`
}

async function judgeMoney(
  shards: readonly Shard[],
  asked: readonly Wish[],
  claim: Claim,
): Promise<string> {
  let left = 0n
  let between = 0n
  for (const { id, primary } of shards) {
    await judgeDatabase(primary, claim)
    const own = asked.filter(({ paid }) => paid?.runId.startsWith(`run_${id}`))
    await judgeAcknowledged(primary, own, claim)
    const [row] = await primary.ask<{ left: string; between: string }>(
      `select (select coalesce(sum(balance), 0) from accounts)::text as left,
        (select coalesce(sum(case when target = 'shards' then amount else -amount end), 0)
          from transfers where kind = 'move')::text as between`,
    )
    left += BigInt(row?.left ?? 0)
    between += BigInt(row?.between ?? 0)
  }
  const spent = asked.reduce((sum, { paid }) => sum + BigInt(paid?.cost ?? 0), 0n)
  const all = granted * BigInt(accountCount)
  claim(left + spent === all, `${left} nUSD are left and ${spent} spent of ${all}`)
  claim(between === 0n, `${between} nUSD left and did not arrive`)
  return `${spent} nUSD spent and ${left} left of ${all}, ${between} between the shards`
}

async function judgeAudit(home: Home, claim: Claim): Promise<string> {
  const map = join(home.folder, 'shards.toml')
  const { code, stdout } = await home.cli('audit', '--shards', map)
  const moves = /moves +(.*)/.exec(stdout)?.[1]
  claim(code === 0, `the audit ended with ${code}: ${stdout}`)
  return `audit of both logs and the moves: ${moves}`
}
