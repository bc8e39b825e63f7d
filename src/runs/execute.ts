import type { Deps } from '../app/deps-port.ts'
import { hasCanonicalForm, type Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import type { Refusal } from '../kernel/refusal.ts'
import type { StopSignal } from '../kernel/stop.ts'
import { forwardBody } from '../models/bound.ts'
import type { RouteStep, Usage } from '../models/model.ts'
import {
  type JsonObject,
  takeEach,
  type Upstream,
  UpstreamFailure,
} from '../models/upstream/upstream.ts'
import { decideUsage } from '../models/usage.ts'
import { receiptIdOf } from '../proof/receipts/receipt.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { type Answer, type Choice, collectAnswer, objects, readAnswer } from './answer.ts'
import { type Ending, type Finished, finish } from './finish.ts'
import { type LiveRun, namesOf } from './live.ts'
import { outcomeOf, refusalOf } from './run.ts'

/**
 * The engine behind every door. Between {@link begin} and here a run holds money, so both ways
 * through this file end in {@link finish}: on an answer, a failure, a stop, a bug.
 */
type Needs = Parameters<typeof finish>[0] & Pick<Deps, 'upstreams'>

export type Completed = Finished & { body: JsonObject; usage: Usage; output: Json }

/**
 * Runs to the end and returns the whole answer, paid.
 * @throws Refusal after the hold was freed and nothing charged.
 */
export async function complete(
  deps: Needs,
  live: LiveRun,
  keep?: Keep<Completed>['done'],
): Promise<Completed> {
  let step = live.model.route[0]
  try {
    const found = await firstOf(deps, live, (upstream, tried) => {
      step = tried
      const body = forwardBody(live.model, live.body, tried, live.bound.maxTokens)
      return upstream.complete({ ...callOf(live), body })
    })
    if (live.stopped()) throw new UpstreamFailure('aborted')
    const firstByteAt = deps.clock.now()
    const answer = live.model.kind === 'chat' ? readAnswer(found) : readEmbeddings(found)
    const output = 'choices' in answer ? (answer.choices as Json) : answer.data
    const ending = settledBy(live, answer, step, { firstByteAt, output })
    const more = { body: found, usage: ending.usage, output }
    const reply = keep && ((done: Finished) => keep({ ...done, ...more }))
    return { ...(await finish(deps, live, ending, reply)), ...more }
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    throw await fail(deps, live, error, { step, delivered: undefined, firstByteAt: null })
  }
}

/**
 * Writes an answer down, sealed, for whoever asks for it again with its Idempotency-Key. It is
 * stored by the command that ends the run, so it comes before anything is paid.
 */
export type Keep<Done> = {
  done(done: Done): Uint8Array
  /** What broke off, but was charged. */
  failed(refusal: Refusal, run: RunRow): Uint8Array
}

/** What a stream writes to. `send` resolves when the reader is ready for more. */
export type Sink = { send(chunks: JsonObject[]): void | Promise<void> }

export type Streamed = Finished & {
  usage: Usage
  choices: Choice[]
  /** The finishing chunks, at least one, held back: the receipt rides on the last of them. */
  tail: JsonObject[]
}

/**
 * Runs and hands on each chunk as it comes; chunks that finish a choice are held back and
 * returned with the receipt, after the settle's COMMIT.
 * @throws Refusal: before the first `send` nothing was charged, afterwards what was delivered.
 */
export async function stream(
  deps: Needs,
  live: LiveRun,
  sink: Sink,
  keep?: Keep<Streamed>,
): Promise<Streamed> {
  const collected = collectAnswer()
  const tail: JsonObject[] = []
  let step = live.model.route[0]
  let firstByteAt: Millis | null = null
  try {
    const chunks = await firstOf(deps, live, (upstream, tried) => {
      step = tried
      const body = forwardBody(live.model, live.body, tried, live.bound.maxTokens)
      return upstream.stream({ ...callOf(live), body })
    })
    const greet = roleGiver()
    const split = endKeeper()
    let stopped: Promise<unknown> | undefined
    await takeEach(chunks, (batch) => {
      if (live.stopped()) return false
      firstByteAt ??= deps.clock.now()
      const outgoing: JsonObject[] = []
      for (const chunk of batch) {
        const { ending, going } = split(chunk)
        if (ending) tail.push(greet(ending))
        if (!going) continue
        collected.addChunk(going)
        if (objects(going['choices']).length > 0) outgoing.push(greet(going))
      }
      if (outgoing.length === 0) return true
      live.tell(outgoing)
      const sent = sink.send(outgoing)
      // A reader who takes nothing must not keep a stopped run from its end.
      if (!sent) return true
      stopped ??= untilAborted(live.signal)
      return Promise.race([sent, stopped]).then(() => true)
    })
    if (live.stopped()) throw new UpstreamFailure('aborted')
    if (tail.length === 0) tail.push(unfinished)
    // Only now: what is held back has not been delivered while the run can still fail.
    for (const chunk of tail) collected.addChunk(chunk)
    const answer = collected.answer()
    const output = answer.choices as Json
    const ending = settledBy(live, answer, step, { firstByteAt, output })
    const more = { usage: ending.usage, choices: answer.choices, tail }
    const reply = keep && ((done: Finished) => keep.done({ ...done, ...more }))
    return { ...(await finish(deps, live, ending, reply)), ...more }
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    const delivered = collected.said() ? collected.answer() : undefined
    throw await fail(deps, live, error, { step, delivered, firstByteAt, keep })
  }
}

/** What a client is sent, and the receipt commits to, when an upstream ends without saying why. */
const unfinished: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

const untilAborted = (signal: StopSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })

const callOf = ({ model, row, signal, trace }: LiveRun) => ({
  kind: model.kind,
  account: row.accountId,
  trace,
  signal,
})

/** Tries the steps of the route in order until one answers; only before the first byte. */
async function firstOf<T>(
  deps: Needs,
  live: LiveRun,
  ask: (upstream: Upstream, step: RouteStep) => Promise<T>,
): Promise<T> {
  let last: unknown
  for (const step of live.model.route) {
    const upstream = deps.upstreams.get(step.upstream)
    if (!upstream) throw new Error(`model ${live.model.id} names an unknown upstream`)
    try {
      return await ask(upstream, step)
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      last = error
      // What was not asked did not fail once more.
      if (error.reason === 'open') continue
      deps.log.warn('upstream.failed', {
        ...namesOf(live),
        upstream: step.upstream,
        reason: error.reason,
        status: error.status,
      })
      if (error.reason === 'aborted' || error.reason === 'rejected') break
    }
  }
  throw last ?? new UpstreamFailure('unreachable')
}

type Delivered = Pick<Answer, 'outputBytes' | 'deltas' | 'usage'>

/** What a run that came through is charged. */
function settledBy(
  live: LiveRun,
  answer: Delivered,
  step: RouteStep | undefined,
  facts: Pick<Ending, 'firstByteAt' | 'output'>,
): Ending & { usage: Usage } {
  const { usage, source, clamped } = decideUsage({
    bound: live.bound,
    reported: answer.usage,
    delivered: {
      inputBytes: live.bound.inputBytes,
      outputBytes: answer.outputBytes,
      deltas: answer.deltas,
    },
    embedded: live.model.verifiable === 're-executable',
  })
  const route = nameOf(step)
  const ending = { route, usage, usageSource: source, clamped, error: null, ...facts }
  return { ...ending, outcome: 'complete' }
}

type Broken = {
  step: RouteStep | undefined
  delivered: Answer | undefined
  firstByteAt: Millis | null
  keep?: Keep<Streamed> | undefined
}

/**
 * Ends a run that did not come through: what was delivered is charged by our own count, since
 * the upstream's account never came; without delivery nothing is.
 */
async function fail(
  deps: Needs,
  live: LiveRun,
  error: unknown,
  { step, delivered, firstByteAt, keep }: Broken,
): Promise<Refusal> {
  const stopped = live.stopped()
  const refusal = refusalOf(error, stopped, delivered !== undefined)
  if (refusal.type === 'internal_error') deps.log.error('run.failed', error, namesOf(live))
  const output = (delivered?.choices ?? null) as Json
  const facts = { firstByteAt, output }
  const ended = delivered && settledBy(live, { ...delivered, usage: undefined }, step, facts)
  const receiptId = receiptIdOf(live.id)
  refusal.detail.headers = { ...refusal.detail.headers, 'x-receipt-id': receiptId }
  refusal.detail.metadata = { ...refusal.detail.metadata, run_id: live.id, receipt_id: receiptId }
  const ending: Ending = {
    ...facts,
    outcome: outcomeOf(stopped, delivered !== undefined),
    route: nameOf(step),
    usage: ended?.usage,
    usageSource: 'counted',
    clamped: ended?.clamped ?? false,
    error: { type: refusal.type, message: refusal.message },
  }
  await finish(deps, live, ending, keep && (({ run }) => keep.failed(refusal, run)))
  return refusal
}

const nameOf = (step: RouteStep | undefined): string =>
  step ? `${step.upstream}:${step.model}` : ''

function readEmbeddings(body: JsonObject): Delivered & { data: Json } {
  const data = body['data'] ?? []
  // A number beyond a double, or half a character: no receipt could commit to it.
  if (!hasCanonicalForm(data)) throw new UpstreamFailure('error')
  return { data, outputBytes: 0, deltas: objects(data).length, usage: body['usage'] }
}

/**
 * Parts a chunk into what finishes a choice, or follows its finish, and what goes out now: each
 * choice keeps its order, and none waits for another to finish.
 */
function endKeeper() {
  const finished = new Set<unknown>()
  return (chunk: JsonObject): { ending?: JsonObject; going?: JsonObject } => {
    const choices = objects(chunk['choices'])
    for (const choice of choices) {
      if (typeof choice['finish_reason'] === 'string') finished.add(choice['index'])
    }
    if (finished.size === 0) return { going: chunk }
    const ending = choices.filter((choice) => finished.has(choice['index']))
    if (ending.length === 0) return { going: chunk }
    if (ending.length === choices.length) return { ending: chunk }
    const going = choices.filter((choice) => !finished.has(choice['index']))
    return { ending: { ...chunk, choices: ending }, going: { ...chunk, choices: going } }
  }
}

/** Some upstreams leave out the role of the first delta; openai's stream helper needs it. */
function roleGiver(): (chunk: JsonObject) => JsonObject {
  const greeted = new Set<unknown>()
  return (chunk) => {
    const choices = objects(chunk['choices'])
    if (choices.every((choice) => greeted.has(choice['index']))) return chunk
    const mended = choices.map((choice) => {
      if (greeted.has(choice['index'])) return choice
      greeted.add(choice['index'])
      return { ...choice, delta: { role: 'assistant', ...(choice['delta'] as JsonObject) } }
    })
    return { ...chunk, choices: mended }
  }
}
