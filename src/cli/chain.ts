import type { Chain } from '../kernel/chain.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/random.ts'
import { rpcChain } from '../proof/chain/rpc.ts'
import { Exit, exitCodes } from './context.ts'

/** How long a server of the chain may take to answer a command, in ms. */
const timeoutMs = 10_000

/** The chain over the server that a command names. @throws Exit 2 for what is no http(s) URL. */
export function openRpc(url: string): Chain {
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  // The URL itself is not told: it can hold a key.
  if (!/^https?:$/.test(protocol)) throw new Exit(exitCodes.usage, '--rpc is no http(s) URL')
  return rpcChain({ urls: [url], clock: systemClock, random: systemRandom(), timeoutMs })
}
