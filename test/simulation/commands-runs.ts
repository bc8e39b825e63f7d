import type { FailureReason, JsonObject } from '../../src/models/upstream/upstream.ts'
import { begin } from '../../src/runs/begin.ts'
import { actorOf, type Command, callerOf, nodeOf, pickKey, type Sim } from './command.ts'
import {
  bodyOf,
  brokenCharge,
  chargeOf,
  type Flight,
  inputOf,
  launch,
  refusalFor,
  sayEnd,
  sayPiece,
} from './flight.ts'
import { judgeBegin, judgeSettle, must } from './model.ts'
import type { RunEnd } from './model-kept.ts'
import { secretOf } from './model-secrets.ts'

/** A model whose answer is read to its end when its client hangs up. */
const drainedModel = 'sim/drained'

/** Holds money and lets the run stream. */
export function beginRun(sim: Sim): Command | undefined {
  const { m, random, w } = sim
  const node = nodeOf(sim)
  const { deps, trace } = actorOf(node)
  const key = pickKey(sim, node.now())
  const secret = key && secretOf(m, key.id)
  if (!key || secret === undefined) return undefined
  const tag = `run${++sim.serial}`
  const most = 1 + random.below(random.below(6) === 0 ? 1000 : 300)
  const name = random.below(4) === 0 ? drainedModel : 'sim/chat'
  const body = bodyOf(tag, random.below(200), most, name)
  const inputBytes = inputOf(body)
  const fit = random.below(6) === 0
  const hold = { node: node.name, stored: !node.db.exclusive }
  return {
    kind: fit ? 'begin fitted' : 'begin',
    say: `${tag} of ${key.id}, at most ${inputBytes} + ${most} tokens`,
    node,
    trace,
    isAtomic: true,
    keys: [key.id],
    async perform() {
      const caller = await callerOf(deps, secret)
      const model = must(deps.catalogue.get(name))
      const asked = { caller, model, body, received: body, background: false }
      const channel = w.upstream.expect(tag)
      const live = await begin(deps, { ...asked, tags: {}, metadata: {}, fit })
      const bound = { input: live.bound.inputTokens, output: live.bound.outputTokens, inputBytes }
      const nothing = { bytes: 0, deltas: 0, failed: 0 }
      const flight = { id: live.id, tag, node, trace, channel, live, ...bound, ...nothing }
      await launch(sim, deps, flight)
    },
    judge: () => {
      const wish = { key: key.id, input: inputBytes, output: most, fit, ...hold }
      return judgeBegin(m, wish, must(trace.ids.get('run')), node.now())
    },
  }
}

/** The model server says something. */
export function chunk(sim: Sim): Command | undefined {
  const flight = pickFlight(sim)
  if (!flight) return undefined
  const letters = 1 + sim.random.below(60)
  return {
    kind: 'chunk',
    say: `${flight.tag} ${letters} letters`,
    node: flight.node,
    trace: flight.trace,
    isAtomic: false,
    perform: () => sayPiece(flight, letters).then(() => 'ok'),
    judge: () => 'ok',
  }
}

/** It ends, and reports honestly, too much, too little, nonsense or nothing. */
export function endRun(sim: Sim): Command | undefined {
  const { m, random } = sim
  const flight = pickFlight(sim)
  if (!flight) return undefined
  const honest = { prompt_tokens: 1 + random.below(flight.input), completion_tokens: flight.deltas }
  const reported: (JsonObject | null)[] = [
    honest,
    honest,
    honest,
    { prompt_tokens: flight.input * 9, completion_tokens: Number.MAX_SAFE_INTEGER },
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: -5, completion_tokens: 1.5 },
    { prompt_tokens: honest.prompt_tokens },
    null,
  ]
  const usage = random.pick(reported) ?? undefined
  return {
    ...settling(sim, flight),
    kind: 'end',
    say: `${flight.tag} reports ${JSON.stringify(usage)}`,
    perform: () => {
      sayEnd(flight, usage)
      return flight.done
    },
    judge: () => {
      const run = m.open.get(flight.id)
      if (!run) return gone(flight)
      const end = { now: flight.node.now(), letters: flight.bytes, byItself: true }
      const cost = chargeOf(flight, run, usage)
      const { heard } = flight
      if (heard === undefined) {
        return judgeSettle(m, flight.id, cost, { ...end, status: 'succeeded' })
      }
      // Read to its end for a client that is gone, which pays for all of it.
      judgeSettle(m, flight.id, cost, { ...end, status: 'cancelled', letters: heard || null })
      return 'conflict'
    },
  }
}

/** The model server fails: before its first byte the next one is asked. */
export function failRun(sim: Sim): Command | undefined {
  const { random } = sim
  const flight = pickFlight(sim)
  if (!flight) return undefined
  const reasons: FailureReason[] = ['error', 'timeout', 'cut', 'unreachable', 'busy', 'rejected']
  const reason = random.pick(reasons)
  const isFirst = flight.deltas === 0 && flight.failed === 0 && flight.heard === undefined
  const goesOn = isFirst && reason !== 'rejected'
  const fail = () => flight.channel.push({ fail: reason })
  if (goesOn) {
    const { node, trace } = flight
    const say = `${flight.tag} ${reason}, the next one is asked`
    const perform = async () => {
      fail()
      flight.failed++
      await Promise.race([flight.channel.idle(), flight.done])
    }
    return { kind: 'fall back', say, node, trace, isAtomic: false, perform, judge: () => 'ok' }
  }
  return {
    ...settling(sim, flight),
    kind: 'fail',
    say: `${flight.tag} ${reason} after ${flight.bytes} letters`,
    perform: () => {
      fail()
      return flight.done
    },
    judge: () => judgeBroken(sim, flight, refusalFor(reason), 'failed'),
  }
}

/** The client hangs up, or someone cancels. */
export function stopRun(sim: Sim): Command | undefined {
  const flight = pickFlight(sim)
  if (!flight) return undefined
  const { background } = flight.live.row
  const goes = background || flight.live.model.id === drainedModel ? 'cancelled' : 'client_gone'
  const reason = sim.random.pick([goes, 'cancelled'] as const)
  return {
    ...settling(sim, flight),
    kind: reason,
    say: `${flight.tag} after ${flight.bytes} letters`,
    perform: () => {
      flight.live.stop(reason)
      return flight.done
    },
    judge: () => judgeBroken(sim, flight, 'conflict'),
  }
}

/** The client hangs up at a model whose answers are read to their end. */
export function hangUp(sim: Sim): Command | undefined {
  const all = [...sim.flights.values()].filter(
    ({ live, heard }) => live.model.id === drainedModel && heard === undefined,
  )
  if (all.length === 0) return undefined
  const flight = sim.random.pick(all)
  const { live, node, trace } = flight
  return {
    kind: 'hang up',
    say: `${flight.tag} after ${flight.bytes} letters`,
    node,
    trace,
    isAtomic: false,
    async perform() {
      live.stop('client_gone')
      flight.heard = flight.bytes
      return live.isDraining && live.stopped() === undefined ? 'ok' : 'stops'
    },
    judge: () => 'ok',
  }
}

/** What a run comes to that broke off: `told`, once it is settled. */
export function judgeBroken(
  { m }: Sim,
  flight: Flight,
  told: string,
  how: 'failed' | 'cancelled' | 'shut down' = 'cancelled',
): string {
  const run = m.open.get(flight.id)
  if (!run) return gone(flight)
  if (flight.heard !== undefined) {
    // A failure of its server delivered nothing; a stop charges what was written until then.
    const isFree = how === 'failed' && flight.bytes === 0
    const end = { now: flight.node.now(), letters: flight.heard || null, byItself: true }
    const cost = isFree ? 0n : brokenCharge(flight, run, true)
    judgeSettle(m, flight.id, cost, { ...end, status: 'cancelled' })
    return how === 'cancelled' ? told : 'conflict'
  }
  const isMute = flight.bytes === 0
  const shut = isMute ? 'interrupted' : 'failed'
  const status: RunEnd['status'] = how === 'shut down' ? shut : how
  const end = { now: flight.node.now(), status, letters: isMute ? null : flight.bytes }
  judgeSettle(m, flight.id, brokenCharge(flight, run, how === 'cancelled'), {
    ...end,
    byItself: true,
  })
  return told
}

/** Another process ended it, which its own one hears when it is to end it: an error, told no one. */
const gone = ({ live }: Flight): string => (live.row.background ? 'unavailable' : 'bug')

export function pickFlight({ random, flights }: Sim): Flight | undefined {
  const all = [...flights.values()]
  return all.length === 0 ? undefined : random.pick(all)
}

/** A command that ends a run: no one can end it after. */
function settling(sim: Sim, flight: Flight) {
  flight.trace.turn = -1
  sim.flights.delete(flight.id)
  sim.w.upstream.forget(flight.tag)
  const { node, trace, live } = flight
  const { keyId, background } = live.row
  return { node, trace, isAtomic: true, keys: [keyId], isUnheard: background }
}
