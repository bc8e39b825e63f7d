/** A slot moves to another shard and back under load, while a node is killed. */
import { join } from 'node:path'
import type { Home } from '../../test/support/binary.ts'
import type { Claim } from '../../test/support/judges.ts'
import { until } from '../../test/support/runs.ts'
import { judgeRefusals, startClients, type Wish } from './clients.ts'
import { judgeAcknowledged, judgeDatabase } from './judge.ts'
import { playPart, type SceneResult, type Undo } from './scene.ts'
import { judgeSums } from './shard-judge.ts'
import { openAccounts, type Shard, startBalanced } from './shards.ts'

const slot = 300
const accountCount = 12
const workers = 8
/** Runs between two events, and of all. */
const phase = 300
/** How long a client asks for a run, in ms. */
const giveUpMs = 180_000

export const slotMoveScene = {
  name: 'two shards: a slot moves under load',
  expected:
    'the slot goes to the other shard and back, and each time a node that it leaves is killed; ' +
    'clients that follow 421 see 503 with Retry-After and no other refusal from a node; every ' +
    'run is paid once, and both ledgers come to what was granted',
}

export const playSlotMove = (): Promise<SceneResult> => playPart(slotMoveScene, play)

async function play(claim: Claim, undo: Undo): Promise<string> {
  const { url, shards, s3, s4 } = await startBalanced(undo)
  const askers = await openAccounts(shards, accountCount, (own) => own === slot)
  const places = { origin: () => url, askers: [askers] }
  const load = startClients({ ...places, workers, giveUpMs, isFollowing: true })
  undo.push(() => load.stop())
  await until('runs before', () => load.paid() > phase, giveUpMs)
  const first = await moveBetween(s3, s4)
  claim(first.code === 0, `the move to s4 ended with ${first.code}: ${first.stderr}`)
  const atS4 = load.paid()
  await until('runs on s4', () => load.paid() > atS4 + phase, giveUpMs)
  const second = await moveBetween(s4, s3)
  claim(second.code === 0, `the move back ended with ${second.code}: ${second.stderr}`)
  const atS3 = load.paid()
  await until('runs on s3 again', () => load.paid() > atS3 + phase, giveUpMs)
  await load.stop({ finishWithinMs: giveUpMs })
  const { wishes } = load
  const between = judgeRefusals(wishes, allowed, claim)
  const seen = [`${wishes.length} runs acknowledged, answers in between: ${between}`]
  seen.push(await judgeMoney(shards, wishes, claim))
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

/** A run in flight on a killed node is known as begun until its end; nothing else is refused. */
const allowed = [
  ...['421 by a node', '503 by a node', '409 by a node'],
  ...['cut off', '502 by haproxy', '503 by haproxy'],
]

async function judgeMoney(
  shards: readonly Shard[],
  asked: readonly Wish[],
  claim: Claim,
): Promise<string> {
  let between = 0n
  for (const { id, primary } of shards) {
    await judgeDatabase(primary, claim)
    const own = asked.filter(({ paid }) => paid?.runId.startsWith(`run_${id}`))
    await judgeAcknowledged(primary, own, claim)
    const [row] = await primary.ask<{ between: string }>(
      `select coalesce(sum(case when target = 'shards' then amount else -amount end), 0)::text
        as between from transfers where kind = 'move'`,
    )
    between += BigInt(row?.between ?? 0)
  }
  claim(between === 0n, `${between} nUSD left and did not arrive`)
  const sums = await judgeSums(shards, { asked, accounts: accountCount }, claim)
  return `${sums}, ${between} between the shards`
}

async function judgeAudit(home: Home, claim: Claim): Promise<string> {
  const map = join(home.folder, 'shards.toml')
  const { code, stdout } = await home.cli('audit', '--shards', map)
  const moves = /moves +(.*)/.exec(stdout)?.[1]
  claim(code === 0, `the audit ended with ${code}: ${stdout}`)
  return `audit of both logs and the moves: ${moves}`
}
