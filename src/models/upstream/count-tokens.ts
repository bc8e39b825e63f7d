/** Asks a model server how many tokens a request has, outside of any run. */
import { parseObject } from '../../kernel/json-object.ts'
import type { HttpLimits, Wire } from './http.ts'
import { type CountCall, type Upstream, UpstreamFailure } from './upstream.ts'

/** The longest wait; our own count answers then. */
const patienceMs = 3000
/** Questions at once, of all accounts and of one; more are answered by our own count. */
const most = 32
const ofAccountMost = 4

type CountTarget = {
  wire: Wire
  headers: (model: string) => Readonly<Record<string, string>>
  limits: HttpLimits
}

export function tokenCounter(asked: CountTarget): NonNullable<Upstream['countTokens']> {
  const { wire, headers: headersFor, limits } = asked
  const brief = { firstByteMs: patienceMs, idleMs: patienceMs, totalMs: patienceMs }
  let open = 0
  const ofAccount = new Map<string, number>()
  const ask = async ({ account, body, passed, signal }: CountCall): Promise<number | undefined> => {
    const headers = headersFor(String(body['model']))
    const answer = await wire.ask({
      account,
      headers: passed ? { ...headers, ...passed } : headers,
      body: JSON.stringify(body),
      signal,
      limits: { ...limits, ...brief },
    })
    if (answer.status !== 200) {
      answer.stop()
      return undefined
    }
    const tokens = parseObject(await answer.text())?.['input_tokens']
    const isCount = typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
    return isCount ? tokens : undefined
  }
  return async (call) => {
    const { account } = call
    const theirs = ofAccount.get(account) ?? 0
    if (open >= most || theirs >= ofAccountMost) return undefined
    open++
    ofAccount.set(account, theirs + 1)
    try {
      return await ask(call)
    } catch (error) {
      if (error instanceof UpstreamFailure) return undefined
      throw error
    } finally {
      open--
      const left = (ofAccount.get(account) ?? 1) - 1
      if (left === 0) ofAccount.delete(account)
      else ofAccount.set(account, left)
    }
  }
}
