/** The RPC client of a command that names its own server. */
import type { Chain } from '../kernel/chain.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/random.ts'
import { rpcChain } from '../proof/chain/rpc.ts'
import { Exit, exitCodes } from './context.ts'

/** Timeout of one RPC call, in ms. */
const timeoutMs = 10_000

/** The chain behind the named server. @throws Exit 2 unless it is an http(s) URL */
export function openRpc(url: string): Chain {
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  // The message omits the URL: it can hold a key.
  if (!/^https?:$/.test(protocol)) throw new Exit(exitCodes.usage, '--rpc is not an http(s) URL')
  return rpcChain({ urls: [url], clock: systemClock, random: systemRandom(), timeoutMs })
}
