import { LostLease } from '../../src/kernel/lost-lease.ts'
import { keepCheckpoint } from '../../src/proof/log/checkpoint.ts'
import { cancelRun, stopCancelled } from '../../src/runs/cancel.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { stopForbidden } from '../../src/runs/stop-forbidden.ts'
import { storeOpenRuns } from '../../src/runs/store-open.ts'
import { dropLeases, nodeLease, takeLease } from '../../src/storage/db/engine/lease.ts'
import { rows } from '../../src/storage/db/sql/query-steps.ts'
import { actorOf, type Command, nodeOf, type Sim } from './command.ts'
import { aside } from './commands-money.ts'
import { judgeBroken, pickFlight } from './commands-runs.ts'
import type { Flight } from './flight.ts'
import { accountIn, chainIn, judgeAbandoned, judgeDeath, judgeStore } from './model.ts'
import type { Node } from './world.ts'

const dayMs = 86_400_000

/** On, mostly to an edge of a day, week or month; sometimes back. */
export function jump(sim: Sim): Command {
  const { random, w } = sim
  const { time } = w
  const toMidnight = dayMs - (time.now % dayMs)
  const date = new Date(time.now)
  const toMonth = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - time.now
  const isBack = random.below(3) === 0
  const days = dayMs * random.pick([0, 1, 3, 6])
  const ahead = [toMidnight, toMidnight + days, toMonth, 70 * dayMs, 3_600_000, 20_000]
  const back = [1000, 60_000, time.now % dayMs, dayMs, 8 * dayMs, 32 * dayMs]
  const by = isBack ? -random.pick(back) : random.pick(ahead)
  const exact = by + random.below(3) - 1
  time.now += exact
  if (exact > 0) time.mono += exact
  const come = { perform: () => Promise.resolve('ok'), judge: () => 'ok' }
  return { ...aside(nodeOf(sim)), kind: isBack ? 'back' : 'ahead', say: `${exact} ms`, ...come }
}

/** What a second of jobs does: runs are stopped that may not go on, and ends are stored again. */
export function sweep(sim: Sim): Command {
  const { m } = sim
  const node = nodeOf(sim)
  const { deps } = node
  let stopped: { flight: Flight; told: string }[] = []
  return {
    ...aside(node),
    kind: 'sweep',
    say: '',
    async perform() {
      stopped = [...sim.flights.values()].flatMap((flight) => {
        const told = flight.node === node ? forbidden(sim, flight) : undefined
        return told === undefined ? [] : [{ flight, told }]
      })
      for (const { flight } of stopped) sim.flights.delete(flight.id)
      await stopForbidden(deps)
      const came = await Promise.all(stopped.map(({ flight }) => flight.done))
      await deps.live.settleAgain()
      return ['ok', ...came].join()
    },
    judge() {
      const came = stopped.map(({ flight, told }) => judgeBroken(sim, flight, told))
      for (const id of node.unsettled)
        if (m.open.has(id)) judgeAbandoned(m, id, node.now(), 'failed')
      node.unsettled.clear()
      return ['ok', ...came].join()
    },
  }
}

/** The job that gives runs which are no longer new a row. */
export function storeOld(sim: Sim): Command {
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  return {
    ...aside(node),
    trace,
    isAtomic: true,
    kind: 'store old',
    say: '',
    perform: () => storeOpenRuns(deps, node.db.open).then(() => 'ok'),
    judge: () => judgeStore(sim.m, node.name, node.now()),
  }
}

function forbidden({ m }: Sim, { live }: Flight): string | undefined {
  if (chainIn(m, live.row.keyId).some(({ revoked }) => revoked)) return 'key_revoked'
  return accountIn(m, live.row.accountId).suspended ? 'account_suspended' : undefined
}

/** Someone cancels by asking a node, which may be another one than the run is on. */
export function cancel(sim: Sim): Command | undefined {
  const flight = pickFlight(sim)
  if (!flight) return undefined
  const { node } = flight
  sim.flights.delete(flight.id)
  const asked = nodeOf(sim)
  return {
    ...aside(node),
    kind: asked === node ? 'cancel' : 'cancel elsewhere',
    say: flight.tag,
    async perform() {
      if (asked !== node) {
        await asked.deps.runs.askToCancel(flight.id)
        await stopCancelled(node.deps)
      } else void cancelRun(node.deps, flight.live.row).catch(() => undefined)
      return flight.done
    },
    judge: () => judgeBroken(sim, flight, 'conflict'),
  }
}

/** Ends what dead processes left open. On a server a process is dead once its lease ran out. */
export function recover(sim: Sim): Command {
  const node = nodeOf(sim)
  let dead: string[] = []
  return {
    ...aside(node),
    kind: 'recover',
    say: '',
    async perform() {
      dead = await deadRuns(sim, node)
      await endAbandoned(node.deps)
    },
    judge() {
      for (const id of dead) judgeAbandoned(sim.m, id, node.now())
      return 'ok'
    },
  }
}

/** The open runs whose process is not alive for this one. */
export async function deadRuns({ m }: Sim, { db, name, now }: Node): Promise<string[]> {
  const { leases } = db.tables
  const known = db.exclusive ? [] : await db.read((q) => rows(q.select().from(leases)))
  const alive = known.filter((one) => one.name.startsWith('node:') && one.expiresAt > now())
  const living = [name, ...alive.map(({ holder }) => holder)]
  return [...m.open.values()].filter((run) => !living.includes(run.node)).map(({ id }) => id)
}

/** The log takes in what ended, its head is signed, and what is in it is counted. */
export function passSequencer(sim: Sim): Command {
  const node = nodeOf(sim)
  return {
    ...aside(node),
    kind: 'sequence',
    say: '',
    commits: 4,
    async perform() {
      await node.deps.sequencer.flush()
      await keepCheckpoint(node.deps)
      await node.count().catch((error: unknown) => {
        // The clock jumped: it takes its lease again.
        if (!(error instanceof LostLease)) throw error
      })
    },
    judge: () => 'ok',
    judgeCut: () => undefined,
  }
}

/** Says that the processes of a server live, as each does every three seconds. */
export async function keepAlive({ nodes }: Sim): Promise<void> {
  await Promise.all(
    nodes.map(async ({ db, deps, name }) => {
      if (!db.exclusive) await takeLease(db, deps.clock, nodeLease(name), name)
    }),
  )
}

/** Ends what a process runs that stops, and gives its leases back: whether each came to what it must. */
export async function stopRuns(sim: Sim, node: Node): Promise<string[]> {
  const own = [...sim.flights.values()].filter((flight) => flight.node === node)
  for (const { live } of own) live.stop('shutdown')
  const came = await Promise.all(own.map(({ done }) => done))
  for (const { id } of own) sim.flights.delete(id)
  await dropLeases(node.db, node.name)
  return own.map((flight, i) => {
    const verdict = judgeBroken(sim, flight, 'unavailable', 'shut down')
    return verdict === came[i] ? 'as it must' : `${flight.tag} came to ${came[i]}, not ${verdict}`
  })
}

/** Forgets what a process knew that is gone: its streams never end. */
export function forgetNode(sim: Sim, node: Node): void {
  node.close()
  for (const flight of sim.flights.values()) {
    if (flight.node !== node) continue
    sim.flights.delete(flight.id)
    sim.w.upstream.forget(flight.tag)
  }
}

/** A process takes the place of one that is gone, and ends what that left open. */
export async function replaceNode(sim: Sim, node: Node): Promise<void> {
  judgeDeath(sim.m, node.name)
  const fresh = await sim.w.start(node.skew, node.heads)
  for (const id of await deadRuns(sim, fresh)) judgeAbandoned(sim.m, id, fresh.now())
  sim.nodes.splice(sim.nodes.indexOf(node), 1, fresh)
}
