/** Two shards, one on Patroni: the machine of its primary dies and comes back; the other dies. */

import type { Home, Server } from '../../test/support/binary.ts'
import type { Claim } from '../../test/support/judges.ts'
import { until } from '../../test/support/runs.ts'
import { seconds } from '../report.ts'
import { type Asker, judgeRefusals, type Load, startClients, type Wish } from './clients.ts'
import { collectHeads, rootsOf } from './heads.ts'
import { askDoctor, judgeHeads } from './judge.ts'
import type { PatroniPair } from './patroni.ts'
import { type PatroniBase, patroniBase } from './patroni-base.ts'
import type { PgServer } from './postgres-server.ts'
import { playPart, type SceneResult, type Undo } from './scene.ts'
import { judgeLogs, judgeShard, judgeSums } from './shard-judge.ts'
import { openAccounts, plainBase, type Shard, startBalanced, toBoth } from './shards.ts'

const accountCount = 60
/** Runs of each shard between two events. */
const phase = 200
/** How long anything may take that clients wait for, in ms. */
const giveUpMs = 120_000
const watchedEveryMs = 250
/** A statement to a database that is gone is given up after 10 s. */
const answeredWithinMs = 15_000

export const patroniShardsScene = {
  name: 'two shards, one on Patroni: the machine of its primary dies, twice',
  expected:
    'each time Patroni promotes the synchronous standby and the shard recovers by itself; no ' +
    'acknowledged run lost or doubled, every head consistent; the other shard refuses nothing; ' +
    'a key of the wrong shard gets 421 and the right one at any moment; both ledgers come to ' +
    'what was granted, one audit of both logs',
}

export const playPatroniShards = (): Promise<SceneResult> => playPart(patroniShardsScene, play)

async function play(claim: Claim, undo: Undo): Promise<string> {
  const bases: PatroniBase[] = []
  const { url, shards, s3, s4 } = await startBalanced(undo, async (id, farm) => {
    if (id === 's4') return plainBase(id, farm)
    const base = await patroniBase(farm, undo)
    bases.push(base)
    return base
  })
  const { pair } = bases[0] as PatroniBase
  const replicas = await askDoctor({ home: s3.homes[0] as Home }, 'replicas')
  claim(replicas?.status === 'ok', `doctor says of the replicas: ${replicas?.message}`)
  const askers = await openAccounts(shards, accountCount)
  const load = startClients({ ...toBoth(url, askers), workers: 8 })
  undo.push(() => load.stop())
  const named = s3.nodes.map((server, i) => ({ name: `node ${i + 1} of s3`, server }))
  const heads = collectHeads({ nodes: named }, () => newestOf(load, 's3'))
  const routes = watchRoutes({ s3, s4 }, askers, claim)
  undo.push(() => Promise.all([heads.stop(), routes.stop()]))

  await untilPaid(load, 's3', phase)
  const there = await failOver(s3, { pair, load, to: pair.standby })
  await untilPaid(load, 's3', phase)
  const startedAt = performance.now()
  await pair.primary.start()
  await pair.untilSynchronous(pair.primary)
  const rejoinedAfter = performance.now() - startedAt
  await untilPaid(load, 's3', phase)
  const back = await failOver(s3, { pair, load, to: pair.primary })
  await untilPaid(load, 's3', phase)
  await load.stop({ finishWithinMs: giveUpMs })
  await Promise.all([heads.stop(), routes.stop()])

  const refused = judgeShards(load.wishes, claim)
  for (const shard of shards) await judgeShard(shard, load.wishes, claim)
  judgeHeads(await rootsOf(s3.primary), heads.seen, claim)
  const told = { asked: load.wishes, accounts: accountCount }
  const sums = await judgeSums(shards, told, claim)
  const audited = await judgeLogs(s3.homes[0] as Home, claim)
  return [
    `${load.paid()} runs acknowledged; ${there}; the dead machine is a synchronous standby ` +
      `${seconds(rejoinedAfter)} after its start; then ${back}`,
    refused,
    `${routes.asked()} requests to the wrong shard answered 421 with the right one`,
    `${heads.seen.length} heads of s3`,
    sums,
    audited,
  ].join('; ')
}

type Failover = { pair: PatroniPair; load: Load; to: PgServer }

/** Kills the machine of the primary and waits until the shard pays again, on the other one. */
async function failOver(shard: Shard, { pair, load, to }: Failover): Promise<string> {
  await shard.primary.kill()
  const killedAt = performance.now()
  const before = load.wishes.length
  await pair.untilPrimary(to)
  const electedAt = performance.now()
  shard.primary = to
  const isBack = () =>
    load.wishes.some(({ by, paid }) => by.shard === shard.id && paid && paid.at > electedAt)
  await until('a run after the failover', isBack, giveUpMs)
  const others = load.wishes.slice(before).filter(({ by, doneAt }) => {
    return by.shard !== shard.id && doneAt > 0 && doneAt < electedAt
  })
  const paid = load.wishes.flatMap(({ by, paid }) => {
    return by.shard === shard.id && paid && paid.at > electedAt ? [paid.at] : []
  })
  return (
    `a failover in ${seconds(electedAt - killedAt)}, the next run ` +
    `${seconds(Math.min(...paid) - killedAt)} after the kill, ${others.length} runs of s4 meanwhile`
  )
}

/** Waits for so many more runs of a shard. */
async function untilPaid(load: Load, id: Shard['id'], more: number): Promise<void> {
  const count = () => load.wishes.filter(({ by, paid }) => by.shard === id && paid).length
  const from = count()
  await until(`${more} more runs of ${id}`, () => count() >= from + more, giveUpMs)
}

const newestOf = ({ wishes }: Load, id: Shard['id']): string | undefined =>
  wishes.findLast(({ by, paid }) => by.shard === id && paid)?.paid?.receiptId

/** Asks a node of each shard with a key of the other one, all the time. */
function watchRoutes(
  { s3, s4 }: Record<Shard['id'], Shard>,
  askers: readonly Asker[],
  claim: Claim,
) {
  let isOver = false
  let asked = 0
  const watch = async (asking: Shard, other: Shard): Promise<void> => {
    const { secret = '' } = askers.find(({ shard }) => shard === other.id) ?? {}
    const json = { model: 'stub/pace-5', input: 'a drill' }
    while (!isOver) {
      for (const node of asking.nodes) {
        for (const path of ['/v1/keys/self', '/v1/runs']) {
          const answer = await callOf(node, path, path === '/v1/runs' ? { json } : {}, secret)
          claim(answer === `421 ${other.id}`, `${asking.id} said ${answer} to a key of ${other.id}`)
          asked++
        }
      }
      await Bun.sleep(watchedEveryMs)
    }
  }
  const watching = Promise.all([watch(s3, s4), watch(s4, s3)])
  const stop = async (): Promise<void> => {
    isOver = true
    await watching
  }
  return { asked: () => asked, stop }
}

async function callOf(node: Server, path: string, init: { json?: unknown }, key: string) {
  try {
    const signal = AbortSignal.timeout(answeredWithinMs)
    const answer = await node.call(path, { ...init, key, signal })
    await answer.body?.cancel()
    return `${answer.status} ${answer.headers.get('x-counterfoil-shard')}`
  } catch (error) {
    return String(error)
  }
}

/** The other shard refuses nothing; this one says 503 and when to come back, and never 500. */
function judgeShards(wishes: readonly Wish[], claim: Claim): string {
  for (const { by, refused } of wishes) {
    for (const { status } of refused) {
      claim(by.shard === 's3', `a run of s4 was refused with ${status}`)
    }
  }
  return `answers of s3 in between: ${judgeRefusals(wishes, allowed, claim)}; of s4: none`
}

/** The hold of a run whose COMMIT is in doubt is known as begun: 409 until that run has ended. */
const allowed = ['503 by a node', '503 by haproxy', '409 by a node']
