/** A stage for one failure: two servers of PostgreSQL, a proxy, nodes, clients, probes. */
import { type Claim, claims } from '../../test/support/judges.ts'
import { startPgBouncer } from '../../test/support/pgbouncer.ts'
import { type SilentProxy, startSilentProxy, targetOf } from '../../test/support/silent-proxy.ts'
import { type Load, startClients } from './clients.ts'
import { collectHeads, type Heads } from './heads.ts'
import { type Node, type Service, startService } from './nodes.ts'
import { startPatroniPair } from './patroni.ts'
import {
  makePgFarm,
  type PgFarm,
  type PgServer,
  promote,
  replicateSynchronously,
} from './postgres-server.ts'
import { type Probes, startProbes } from './probes.ts'

/** What a scene found. `seen` goes into the report; `faults` are what the service did wrong. */
export type SceneResult = { name: string; expected: string; seen: string; faults: string[] }

/** How to take down what a scene built, in the order in which it was built. */
export type Undo = (() => Promise<unknown>)[]

/** Plays something; `play` says what was seen. What breaks it off is a fault too. */
export async function playPart(
  { name, expected }: Pick<SceneResult, 'name' | 'expected'>,
  play: (claim: Claim, undo: Undo) => Promise<string>,
): Promise<SceneResult> {
  const { faults, claim } = claims()
  const undo: Undo = []
  let seen = ''
  try {
    seen = await play(claim, undo)
  } catch (error) {
    faults.push(`the scene broke off: ${error}`)
  } finally {
    for (const step of undo.reverse()) await step()
  }
  return { name, expected, seen, faults }
}

export type Stage = {
  primary: PgServer
  standby: PgServer
  /** Makes the standby the primary, or waits until it is. */
  takeOver(): Promise<void>
  /** Between the nodes and their database. */
  proxy: SilentProxy
  service: Service
  clients: Load
  probes: Probes
  heads: Heads
  claim: Claim
}

export type Scene = {
  name: string
  expected: string
  /** Whether the primary waits for its standby at each COMMIT, and who promotes the standby. */
  replication: 'asynchronous' | 'synchronous' | 'patroni'
  /** Whether nodes reach the database through PgBouncer in transaction mode. */
  isPooled?: boolean
  nodes?: number
  /** Whether a file sets the clock of the primary, by `faketime`. */
  isClockFaked?: boolean
  /** @returns what was seen, in words. */
  play(stage: Stage): Promise<string>
}

/** How long everything runs before something breaks, in ms. */
const warmUpMs = 3000

/** Builds the stage, lets clients run for a while, plays the scene and takes the stage down. */
export const playScene = ({ play, ...scene }: Scene): Promise<SceneResult> =>
  playPart(scene, async (claim, undo) => {
    const farm = await makePgFarm()
    undo.push(() => farm.remove())
    const { primary, standby, takeOver } = await makePair(farm, scene, undo)
    const proxy = startSilentProxy(targetOf(primary.url))
    undo.push(async () => proxy.stop())
    const address = proxy.urlOf(primary.url)
    const service = await startService(
      scene.isPooled ? await pooled(address, undo) : address,
      scene.nodes,
    )
    undo.push(() => service.remove())
    const { nodes, secret } = service
    let turn = 0
    const origin = () => (nodes[turn++ % nodes.length] as Node).server.origin
    const clients = startClients({ origin, askers: [[{ secret }]] })
    const newest = () => clients.wishes.findLast(({ paid }) => paid)?.paid?.receiptId
    const heads = collectHeads(service, newest)
    const probes = startProbes(service)
    undo.push(() => Promise.all([clients.stop(), heads.stop(), probes.stop()]))
    await Bun.sleep(warmUpMs)
    return play({ primary, standby, takeOver, proxy, service, clients, probes, heads, claim })
  })

/** Puts PgBouncer in front of a server. @returns where nodes reach it. */
async function pooled(server: string, undo: Undo): Promise<string> {
  const pooler = await startPgBouncer({ server, poolSize: 20 })
  undo.push(pooler.stop)
  return pooler.url(new URL(server).pathname.slice(1), '?prepare=false')
}

type Pair = Pick<Stage, 'primary' | 'standby' | 'takeOver'>

async function makePair(
  farm: PgFarm,
  { replication, isClockFaked }: Pick<Scene, 'replication' | 'isClockFaked'>,
  undo: Undo,
): Promise<Pair> {
  if (replication === 'patroni') {
    const pair = await startPatroniPair(farm.programs, farm.folder)
    undo.push(pair.remove)
    return { ...pair, takeOver: () => pair.untilPrimary(pair.standby) }
  }
  const primary = await farm.primary(isClockFaked)
  const standby = await farm.standby(primary)
  if (replication === 'synchronous') await replicateSynchronously(primary)
  return { primary, standby, takeOver: () => promote(standby) }
}
