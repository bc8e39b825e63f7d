import { hashSecret } from '../../src/access/keys/secret.ts'
import type { Service } from '../../src/app/wiring.ts'
import type { Ids } from '../../src/kernel/ids.ts'
import { Refusal } from '../../src/kernel/refusal.ts'
import type { Prng } from '../ledger/prng.ts'
import type { Door } from '../support/doors.ts'
import type { Flight } from './flight.ts'
import { chainIn, type Model, type ModelKey, stateOf } from './model.ts'
import { secretOf } from './model-secrets.ts'
import { type Node, nextTurn, type World } from './world.ts'

/** A call that was made with an Idempotency-Key. */
export type Said = { call: string; key: string; body: string; tag: string; door: Door }

/** All that a simulation has in its hands, and what it believes. */
export type Sim = {
  w: World
  m: Model
  random: Prng
  /** The processes that serve, and on SQLite one beside them that writes as the command line does. */
  nodes: Node[]
  writer: Node | undefined
  accounts: readonly string[]
  flights: Map<string, Flight>
  said: Said[]
  /** The same for runs in the background. */
  asked: Said[]
  serial: number
}

/**
 * A command: how the service is asked, and what the model says it comes to. The model is asked
 * afterwards, because of several at once the service decides the order.
 */
export type Command = {
  kind: string
  /** For anyone who reads what happened. */
  say: string
  node: Node
  perform(): Promise<unknown>
  judge(): string
  /** What it left behind that the model knows by id. */
  trace: Trace
  /** Whether it is one COMMIT, so that others may come in between and a mishap may cut it. */
  isAtomic: boolean
  /** Keys whose windows it may have changed, beside those of runs. */
  keys?: string[]
  /** Whether it goes through a door, which remembers for a second who called. */
  asks?: boolean
  /** Whether no one hears what it comes to, also not that its write failed. */
  isUnheard?: boolean
  /** How many COMMITs it has, where it can be cut between them, and what it is after so many. */
  commits?: number
  judgeCut?(commits: number): void
}

/** The turn that the ledger decided it at, and the last id that it made of each kind. */
export type Trace = { turn: number; ids: Map<string, string> }

/** The deps of a node for one command, whose ids and whose turn are seen. */
export function actorOf(node: Node): { deps: Service; trace: Trace } {
  const trace: Trace = { turn: -1, ids: new Map() }
  const { ledger, ids } = node.deps
  // Events of a refusal follow it; the command ends with the refusal.
  let refusing: unknown
  const traced: Service['ledger'] = {
    post: (command) =>
      ledger.post({
        ...command,
        decide(unit) {
          // The last time counts: a batch may be decided again.
          if (refusing === undefined || refusing === command) trace.turn = nextTurn()
          try {
            return command.decide(unit)
          } catch (error) {
            if (error instanceof Refusal) refusing = command
            throw error
          }
        },
      }),
  }
  const told: Ids = {
    make(prefix) {
      const id = ids.make(prefix)
      trace.ids.set(prefix, id)
      return id
    },
  }
  return { deps: { ...node.deps, ledger: traced, ids: told }, trace }
}

/** What a performance came to, in the words of the model. */
export async function cameOf(performance: Promise<unknown>): Promise<string> {
  try {
    const value = await performance
    return typeof value === 'string' ? value : 'ok'
  } catch (error) {
    if (error instanceof Refusal) return refusalWords(error.type, error.detail.metadata)
    lastBug = error
    return 'bug'
  }
}

/** The type of a refusal, and what it tells of held money where a run lacks some. */
export const refusalWords = (type: string, metadata: Record<string, unknown> = {}): string => {
  const held = metadata['held_nusd']
  return held === undefined || type === 'conflict' ? type : `${type} ${held}`
}

let lastBug: unknown
/** The last error that was not a refusal, for anyone who did not expect it. */
export const findBug = (): unknown => lastBug

/** The caller that a secret makes. */
export async function callerOf(deps: Service, secret: string) {
  const found = await deps.keys.findCaller(hashSecret(secret))
  if (!found) throw new Error('a secret that the simulation knows is unknown to the service')
  return found
}

export const nodeOf = ({ random, nodes }: Sim): Node => random.pick(nodes)

/** A node, or on SQLite sometimes the command line. */
export const writerOf = (sim: Sim): Node =>
  sim.writer && sim.random.below(4) === 0 ? sim.writer : nodeOf(sim)

/** Mostly one of the newer keys that live, whose secret is known. */
export function pickKey(sim: Sim, now: number): ModelKey | undefined {
  const known = [...sim.m.keys.values()].filter(({ id }) => secretOf(sim.m, id) !== undefined)
  if (known.length === 0) return undefined
  const some = sim.random.below(12) === 0 ? known : known.slice(-40)
  const live = some.filter(({ id }) => stateOf(chainIn(sim.m, id), now) === undefined)
  return live.length > 0 && sim.random.below(8) > 0 ? sim.random.pick(live) : sim.random.pick(some)
}
