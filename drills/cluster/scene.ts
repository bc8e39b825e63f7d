/** A stage for one failure: two servers of PostgreSQL, a gate, nodes, clients, probes. */
import { type Clients, startClients } from './clients.ts'
import { type Gate, openGate } from './gate.ts'
import { collectHeads, type Heads } from './heads.ts'
import { type Service, startService } from './nodes.ts'
import { makePgFarm, type PgServer, replicateSynchronously } from './postgres-server.ts'
import { type Probes, startProbes } from './probes.ts'

/** What a scene found. `seen` goes into the report; each fault is one thing the service did wrong. */
export type SceneResult = { name: string; expected: string; seen: string; faults: string[] }

export type Claim = (isTrue: boolean, fault: string) => void

export type Stage = {
  primary: PgServer
  standby: PgServer
  gate: Gate
  service: Service
  clients: Clients
  probes: Probes
  heads: Heads
  claim: Claim
}

export type Scene = {
  name: string
  expected: string
  /** Whether the primary waits for its standby at each COMMIT. */
  isSynchronous: boolean
  nodes?: number
  /** @returns what was seen, in words. */
  play(stage: Stage): Promise<string>
}

/** How long everything runs before something breaks, in ms. */
const warmUpMs = 3000

/** Builds the stage, lets clients run for a while, plays the scene and takes the stage down. */
export async function playScene({ name, expected, play, ...scene }: Scene): Promise<SceneResult> {
  const faults: string[] = []
  const claim: Claim = (isTrue, fault) => void (isTrue || faults.push(fault))
  const farm = await makePgFarm()
  const undo: (() => Promise<unknown>)[] = [() => farm.remove()]
  try {
    const primary = await farm.primary()
    const standby = await farm.standby(primary)
    if (scene.isSynchronous) await replicateSynchronously(primary)
    const gate = await openGate(primary.port)
    undo.push(() => gate.close())
    const address = new URL(primary.url)
    address.port = String(gate.port)
    const service = await startService(address.href, scene.nodes)
    undo.push(() => service.remove())
    const clients = startClients(service)
    const newest = () => clients.wishes.findLast(({ paid }) => paid)?.paid?.receiptId
    const heads = collectHeads(service, newest)
    const probes = startProbes(service)
    undo.push(() => Promise.all([clients.stop(), heads.stop(), probes.stop()]))
    await Bun.sleep(warmUpMs)
    const stage = { primary, standby, gate, service, clients, probes, heads, claim }
    return { name, expected, seen: await play(stage), faults }
  } catch (error) {
    return { name, expected, seen: '', faults: [...faults, `the scene broke off: ${error}`] }
  } finally {
    for (const step of undo.reverse()) await step()
  }
}
