/**
 * Runs a request to its end and returns the whole answer, text or vectors, after the COMMIT that
 * settles it.
 */
import type { Deps } from '../app/deps-port.ts'
import { hasCanonicalForm, type Json } from '../kernel/canonical.ts'
import type { Usage } from '../models/meter.ts'
import { gatherNative } from '../models/protocols/native.ts'
import { type JsonObject, UpstreamFailure } from '../models/upstream/upstream.ts'
import { nothingCame, objects, readAnswer } from './answer.ts'
import { type CollectedAnswer, endFailed, endingOf, type ReplyKeeper, storedOf } from './ending.ts'
import { finish } from './finish.ts'
import type { LiveRun } from './live-run.ts'
import { sound } from './native-sorter.ts'
import { tryRoute } from './route.ts'
import type { FinishedRun } from './settlement.ts'

export type CompletedAnswer = FinishedRun & { body: JsonObject; usage: Usage; output: Json }

/**
 * Runs to the end and returns the whole answer, settled.
 * @throws Refusal after the hold was freed. Only a client that left has paid: for the input, or for
 * what the model server reported.
 */
export async function complete(
  deps: Deps,
  live: LiveRun,
  keep?: ReplyKeeper<CompletedAnswer>,
): Promise<CompletedAnswer> {
  let answer: CollectedAnswer = nothingCame
  let isWhole = false
  try {
    const whole = await tryRoute(deps, live, 'complete')
    const found = live.freeform ? live.freeform.whole(whole) : whole
    const came = readWholeAnswer(live, found)
    if (live.isLarge) deps.reports.keepConversation(live)
    live.freeRequest()
    if (live.stopped() || live.isDraining) {
      // The whole answer came too late: its report is believed, none of it was delivered.
      isWhole = live.isDraining
      const droppedBytes = isWhole ? came.outputBytes : 0
      answer = { ...came, choices: [], outputBytes: 0, sealedBytes: 0, droppedBytes }
      throw new UpstreamFailure('aborted')
    }
    live.firstByteAt = deps.clock.now()
    const output = came.choices
    const ending = endingOf(deps, live, came, output, 'whole')
    const more = { body: found, usage: ending.usage, output }
    return Object.assign(await finish(deps, live, ending, storedOf(keep, more)), more)
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    throw await endFailed(deps, live, error, { answer, keep, isWhole })
  }
}

function readWholeAnswer({ model, native, isNative }: LiveRun, found: JsonObject): CollectedAnswer {
  if (model.kind === 'embedding') return readEmbeddings(found)
  return isNative && native ? sound(gatherNative(native.protocol, found)) : readAnswer(found)
}

/** The members of a vector; others would be output that an embedding has no price for. */
const vectorMembers = new Set(['object', 'index', 'embedding'])

/** Reads the vectors that a model server answers with. */
export function readEmbeddings(body: JsonObject): CollectedAnswer {
  const data = objects(body['data']).map(toVector)
  // No receipt could commit to a number beyond a double or to half a surrogate pair.
  if (!hasCanonicalForm(data)) throw new UpstreamFailure('error')
  return { ...nothingCame, choices: data, usage: body['usage'], tier: body['service_tier'] }
}

function toVector(item: JsonObject): JsonObject {
  const names = Object.keys(item)
  if (names.every((name) => vectorMembers.has(name))) return item
  return Object.fromEntries(Object.entries(item).filter(([name]) => vectorMembers.has(name)))
}
