/** Counts what a message would read, without a run. */
import { assertModelAllowed, type Caller, isScopeOf } from '../../access/keys/key.ts'
import { canPay } from '../../access/keys/self.ts'
import type { Deps } from '../../app/deps-port.ts'
import { boundOf } from '../../models/bound.ts'
import { tokensOfBytes } from '../../models/count.ts'
import { messagesToChat } from '../../models/protocols/messages/request-to-chat.ts'
import { boundOfNative } from '../../models/protocols/native/bound.ts'
import { countRequest } from '../../models/protocols/native.ts'
import { loadTokenizer } from '../../models/tokenizers/load.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { readHeldJson } from '../../web/http/body.ts'
import { asBody, findModelOf, type RoutedRequest, routed } from './run-request.ts'

type Context = { caller: Caller; request: Request }

/**
 * As the model's own server counts, if it speaks this protocol and answers within seconds; else as
 * a run without a report would be charged.
 */
export async function countInput(deps: Deps, { caller, request }: Context) {
  const { value, room } = await readHeldJson(request, { limitBytes: deps.settings.bodyBytes })
  try {
    return await countBody(deps, { caller, request }, asBody(value))
  } finally {
    room?.release()
  }
}

async function countBody(deps: Deps, { caller, request }: Context, value: JsonObject) {
  const model = findModelOf(deps, 'chat', value, caller)
  assertModelAllowed(caller.chain, model.id)
  const { headers } = request
  // A question has no limit of its answer, which a run needs.
  const received = { ...value, max_tokens: 1 }
  const reader = { protocol: 'messages', translate: messagesToChat } as const
  const asked = routed(deps, model, { received, headers }, reader)
  // Ours comes first: it refuses what a run would be refused for.
  const own = await ownCount(asked)
  const { native } = asked
  const [step] = asked.model.route
  const upstream = step && deps.upstreams.get(step.upstream)
  if (!native || !upstream?.countTokens) return { input_tokens: own }
  // The operator pays for the question with places of the server: only who could run it may ask.
  const mayRun = isScopeOf(caller.chain, 'runs:write') && (await canPay(deps, caller))
  if (!mayRun) return { input_tokens: own }
  const theirs = await upstream.countTokens({
    account: caller.account,
    body: countRequest(native, step?.model ?? ''),
    passed: native.headers,
    signal: request.signal,
  })
  return { input_tokens: theirs ?? own }
}

async function ownCount({ model, native, body = {} }: RoutedRequest): Promise<number> {
  const tokenizer = model.tokenizer && (await loadTokenizer(model.tokenizer))
  const bound = native ? boundOfNative(model, native, tokenizer) : boundOf(model, body, tokenizer)
  const { inputBytes, countedText, countedMedia = 0 } = bound
  const text = countedText ?? tokensOfBytes(inputBytes, model.bytesPerToken)
  return Math.max(1, text + countedMedia)
}
