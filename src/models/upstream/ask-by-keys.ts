/** Asks a model server by one of its keys after another, until one is taken. */
import type { KeyPool, KeyRefusal, PooledKey } from './key-pool.ts'
import { type UpstreamCall, UpstreamFailure } from './upstream.ts'

/** Asks once, with the headers of a key. */
type Ask<T> = (headers: PooledKey['headers']) => Promise<T>

/**
 * The answer that a key was taken for. The next key is asked before a byte of an answer went on,
 * under the same hold.
 * @throws UpstreamFailure `limited` or `denied` when all keys rest, or another that is of no key
 */
export async function askByKeys<T>(pool: KeyPool, call: UpstreamCall, ask: Ask<T>): Promise<T> {
  const { mark, signal, body } = call
  const model = typeof body['model'] === 'string' ? body['model'] : ''
  const tried: PooledKey[] = []
  let doubtful: Doubtful[] | undefined
  let last: UpstreamFailure | undefined
  for (;;) {
    const key = pool.pick(model, tried, call.key)
    if (!key) throw pool.exhausted(model, last)
    tried.push(key)
    try {
      const answer = await ask(key.headers)
      pool.answered(key, model)
      for (const { key, refusal } of doubtful ?? []) pool.refuse(key, model, refusal)
      if (mark) mark.key = key.id
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      const refusal = refusalOf(error)
      if (!refusal) throw error
      last = error
      if (isDoubtful(error)) doubtful = [...(doubtful ?? []), { key, refusal }]
      else if (!error.isOfRequest) pool.refuse(key, model, refusal)
      if (signal.aborted || mark?.isLeft?.()) throw error
      if (mark) mark.isSent = false
    }
  }
}

/**
 * A refusal that can be about the request: for what it says, or for its price. Only a request that
 * another key was taken for shows that it is not, so that no client can lay all keys to rest.
 */
type Doubtful = { key: PooledKey; refusal: KeyRefusal }

const isDoubtful = ({ status }: UpstreamFailure): boolean => status === 402 || status === 403

/** Undefined for a failure that is not about the key or the account behind it. */
function refusalOf({ reason, status, retryAfterMs }: UpstreamFailure): KeyRefusal | undefined {
  const isOfKey = reason === 'denied' || (reason === 'busy' && status === 429)
  return isOfKey && status !== undefined ? { status, askedMs: retryAfterMs } : undefined
}
