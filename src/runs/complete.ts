/** Runs a request to its end and returns the whole answer, after the COMMIT that settles it. */
import type { Deps } from '../app/deps-port.ts'
import { hasCanonicalForm, type Json } from '../kernel/canonical.ts'
import { forwardBody } from '../models/bound.ts'
import type { Usage } from '../models/meter.ts'
import { type JsonObject, UpstreamFailure } from '../models/upstream/upstream.ts'
import { objects, readAnswer } from './answer.ts'
import { chargedEnding, type Delivered, endFailed, type Keep } from './ending.ts'
import { type Finished, finish } from './finish.ts'
import type { LiveRun } from './live-run.ts'
import { tryRoute, upstreamCall } from './route.ts'

export type Completed = Finished & { body: JsonObject; usage: Usage; output: Json }

/**
 * Runs to the end and returns the whole answer, settled.
 * @throws Refusal after the hold was freed and nothing was charged.
 */
export async function complete(
  deps: Deps,
  live: LiveRun,
  keep?: Keep<Completed>['done'],
): Promise<Completed> {
  let step = live.model.route[0]
  try {
    const found = await tryRoute(deps, live, (upstream, tried) => {
      step = tried
      const body = forwardBody(live.model, live.body, tried, live.bound.maxTokens)
      return upstream.complete({ ...upstreamCall(live), body })
    })
    if (live.stopped()) throw new UpstreamFailure('aborted')
    const firstByteAt = deps.clock.now()
    const answer = live.model.kind === 'chat' ? readAnswer(found) : readEmbeddings(found)
    const output = 'choices' in answer ? (answer.choices as Json) : answer.data
    const ending = chargedEnding(live, answer, step, { firstByteAt, output })
    const more = { body: found, usage: ending.usage, output }
    const reply = keep && ((done: Finished) => keep({ ...done, ...more }))
    return { ...(await finish(deps, live, ending, reply)), ...more }
  } catch (error) {
    if (!deps.live.find(live.id)) throw error
    throw await endFailed(deps, live, error, { step, delivered: undefined, firstByteAt: null })
  }
}

function readEmbeddings(body: JsonObject): Delivered & { data: Json } {
  const data = body['data'] ?? []
  // No receipt could commit to a number beyond a double or to half a surrogate pair.
  if (!hasCanonicalForm(data)) throw new UpstreamFailure('error')
  return {
    data,
    outputBytes: 0,
    deltas: objects(data).length,
    usage: body['usage'],
    tier: undefined,
  }
}
