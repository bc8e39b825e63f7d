/** Counts what a message would read, without a run. */
import { assertModelAllowed, type Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import { boundOf } from '../../models/bound.ts'
import { tokensOfBytes } from '../../models/count.ts'
import type { Model } from '../../models/model.ts'
import { messagesToChat } from '../../models/protocols/messages/read-request.ts'
import { countRequest, type Native, nativeOf, textBytesOf } from '../../models/protocols/native.ts'
import { loadTokenizer } from '../../models/tokenizers/load.ts'
import type { JsonObject } from '../../models/upstream/upstream.ts'
import { readJson } from '../../web/http/body.ts'
import { asBody, findModelOf } from './asked.ts'

type Context = { caller: Caller; request: Request }

/**
 * As the model's own server counts, if it speaks this protocol and answers within seconds; else as
 * a run without a report would be charged.
 */
export async function countInput(deps: Deps, { caller, request }: Context) {
  const limitBytes = deps.settings.bodyBytes
  const value = asBody((await readJson(request, { limitBytes })).value)
  const model = findModelOf(deps, 'chat', value, caller)
  assertModelAllowed(caller.chain, model.id)
  const { body } = messagesToChat({ ...value, max_tokens: 1 })
  const { contextTokens } = model
  const native = nativeOf('messages', value, { headers: request.headers, contextTokens })
  // Ours comes first: it refuses what a run would be refused for.
  const own = await ownCount(model, body, native)
  const [step] = model.route
  const upstream = step && deps.upstreams.get(step.upstream)
  const theirs = await upstream?.countTokens?.({
    account: caller.account,
    body: countRequest(native, step?.model ?? ''),
    passed: native.headers,
    signal: new AbortController().signal,
  })
  return { input_tokens: theirs ?? own }
}

async function ownCount(model: Model, body: JsonObject, native: Native): Promise<number> {
  const tokenizer = model.tokenizer && (await loadTokenizer(model.tokenizer))
  const bound = boundOf(model, body, tokenizer, textBytesOf(native))
  const { inputBytes, countedText, countedMedia = 0 } = bound
  const text = countedText ?? tokensOfBytes(inputBytes, model.bytesPerToken, false)
  return Math.max(1, text + countedMedia)
}
