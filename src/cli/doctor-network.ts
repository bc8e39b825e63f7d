/** The `doctor` checks of the network: public origin, upstreams and chain. */

import { openAnchorSender } from '../app/open-signer.ts'
import { lossesIn } from '../app/reload.ts'
import { checkToken } from '../billing/deposits/token.ts'
import type { Config } from '../config/config.ts'
import { oddPriceFix, oddPrices } from '../config/odd-prices.ts'
import { isLoopback } from '../config/values.ts'
import { type Chain, ChainUnavailable } from '../kernel/chain.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/random.ts'
import { upstreamWords } from '../models/upstream/check-words.ts'
import { request } from '../models/upstream/http.ts'
import { anchorStore } from '../proof/anchors/store.ts'
import { rpcChain } from '../proof/chain/rpc.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { type Finding, failure, fine, warning } from './finding.ts'
import { checkUpstreams, isThere } from './models.ts'

/** Gas of the log's most expensive transaction, and how many the sender should afford. */
const gasOfAnchor = 80_000n
const anchorsAhead = 100n

/** Largest accepted distance between the clock and the newest block, in ms. */
const skewMs = 120_000

/** Checks that the service is reachable by its public name, over TLS. */
export async function lookAtOrigin(config: Config): Promise<Finding[]> {
  const { base_url: origin, listen, trusted_proxies: proxies } = config
  const { hostname, protocol } = new URL(origin)
  if (isLoopback(hostname)) {
    const words = `Receipts name ${origin} as their issuer, which only works on this machine.`
    const fix = 'set base_url = "https://…" in counterfoil.toml before the first receipt'
    return [warning('origin', words, fix)]
  }
  const alive = await isAlive(`${origin}/livez`)
  const answer = alive
    ? fine('origin', `${origin} responds${protocol === 'https:' ? ' over TLS' : ''}.`)
    : warning(
        'origin',
        `${origin} is not reachable from here.`,
        `curl -v ${origin}/livez, with the server and its TLS proxy running`,
      )
  if (proxies.length > 0) return [answer]
  const words = `No proxy is trusted, so all callers behind one share an address and its limits.`
  const proxy = isLoopback(listen.hostname) ? '127.0.0.1' : '<address of the proxy>'
  return [answer, warning('origin', words, `set trusted_proxies = ["${proxy}"]`)]
}

async function isAlive(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(5000)
  try {
    const answer = await request({ url, method: 'GET', signal })
    answer.stop()
    return answer.status === 200
  } catch {
    return false
  }
}

/** Checks that no price is a slip of the unit, or below what a step of its route costs. */
export function lookAtPrices(config: Config): Finding[] {
  const fix = 'raise the price in [[models]], or correct the cost of the route step'
  const odd = oddPrices(config).map((price) =>
    warning('prices', `Is this meant? ${price}.`, oddPriceFix),
  )
  const losses = lossesIn(config).map((loss) => warning('prices', `Below cost: ${loss}.`, fix))
  const hasCost = config.models.some(({ route = [] }) =>
    route.some((step) => typeof step !== 'string' && step.cost !== undefined),
  )
  if (odd.length + losses.length > 0 || !hasCost) return [...odd, ...losses]
  return [fine('prices', 'No model is sold below the cost of its route.')]
}

/** Checks that every offered model has a working upstream. */
export async function lookAtModels(config: Config): Promise<Finding[]> {
  if (config.upstreams.length === 0) {
    const fix = 'counterfoil provider add <provider>; counterfoil provider list names them'
    return [warning('models', 'Only the built-in models are available.', fix)]
  }
  const keyless = config.upstreams.filter(
    ({ api_key, base_url }) => api_key === undefined && !isLoopback(new URL(base_url).hostname),
  )
  const checked = (await checkUpstreams(config)).flatMap((one) => {
    const words = `The upstream ${one.id} ${upstreamWords[one.status].split(':')[0]}.`
    const fix =
      one.baseUrl === undefined
        ? `counterfoil models check; ${upstreamWords[one.status].split(': ')[1] ?? ''}`
        : `set base_url = "${one.baseUrl}" of the upstream ${one.id}`
    if (!isThere(one)) return failure('models', words, fix.replace(/; $/, ''))
    if (one.missing.length === 0) return fine('models', words)
    const lacks = `The upstream ${one.id} does not list ${one.missing.join(', ')}.`
    return warning('models', lacks, 'use the names it lists in route = ["upstream:name"]')
  })
  return [
    ...checked,
    ...keyless.map(({ id }) =>
      warning(
        'models',
        `The upstream ${id} is on another machine and has no key.`,
        `set api_key_env or api_key_file of the upstream ${id}`,
      ),
    ),
  ]
}

/** Checks that the chain is reachable, deposits can arrive and anchors can be paid. */
export async function lookAtChain(config: Config, db: Db | undefined): Promise<Finding[]> {
  const urls = config.chain.rpc_urls
  if (urls.length === 0) {
    const words = 'No chain is configured: deposits and anchoring are off.'
    return [warning('chain', words, 'set [chain] rpc_urls = ["https://…"]')]
  }
  const chain = rpcChain({ urls, clock: systemClock, random: systemRandom(), timeoutMs: 10_000 })
  try {
    const { number, timestampMs } = await chain.block('latest')
    const off = Math.round(Math.abs(systemClock.now() - timestampMs) / 1000)
    const clock = `The clock is ${off} s from the newest block.`
    return [
      fine('chain', `Chain 4663 is at block ${number}.`),
      off * 1000 > skewMs
        ? warning('clock', clock, 'timedatectl set-ntp true')
        : fine('clock', clock),
      ...(await lookAtDeposits(config, chain)),
      ...(await lookAtSecond(config)),
      ...(await lookAtAnchors(config, chain, db)),
    ]
  } finally {
    chain.close()
  }
}

async function lookAtDeposits(config: Config, chain: Chain): Promise<Finding[]> {
  const { treasury, token, token_decimals: decimals } = config.chain
  if (treasury === undefined) {
    const words = 'Deposits are off: no treasury is configured.'
    return [warning('deposits', words, 'set [chain] treasury = "0x…"')]
  }
  const { trouble } = await checkToken(chain, { token, decimals })
  if (trouble === null) return [fine('deposits', `They go to ${treasury}.`)]
  const words =
    trouble === 'no_token'
      ? `There is no token at ${token}.`
      : `The token does not have ${decimals} decimals.`
  return [failure('deposits', words, 'set [chain] token and token_decimals')]
}

/** Checks the second RPC server: large deposits wait while it is unreachable. */
async function lookAtSecond(config: Config): Promise<Finding[]> {
  const urls = config.chain.second_rpc_urls
  if (urls.length === 0) return []
  const second = rpcChain({ urls, clock: systemClock, random: systemRandom(), timeoutMs: 10_000 })
  try {
    const { number } = await second.block('finalized')
    return [fine('second', `The second RPC server has final blocks up to ${number}.`)]
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    const words = `The second RPC server: ${error.message}. Deposits wait for it.`
    return [failure('second', words, 'set [chain] second_rpc_urls to a working server')]
  } finally {
    second.close()
  }
}

async function lookAtAnchors(config: Config, chain: Chain, db: Db | undefined): Promise<Finding[]> {
  const sender = openAnchorSender(config)
  if (!sender) {
    const words = 'No sender key is configured, so the log is not anchored.'
    return [warning('anchors', words, 'set [anchors] sender_key_file to a funded key')]
  }
  const stored = db && (await anchorStore(db, { clock: systemClock, node: 'command' }).registry())
  const registry = stored ?? config.anchors.registry
  const [balance, { maxFeeWei }] = [await chain.balance(sender.address), await chain.fees()]
  const one = maxFeeWei * gasOfAnchor
  const money = `The sender ${sender.address} has ${balance} wei; one anchor costs up to ${one}.`
  const fill = `fund ${sender.address} on chain 4663`
  const funds =
    balance < one
      ? failure('anchors', money, fill)
      : balance < one * anchorsAhead
        ? warning('anchors', money, fill)
        : fine('anchors', money)
  if (registry === undefined) {
    return [funds, warning('anchors', 'No registry is configured.', 'counterfoil anchor deploy')]
  }
  if ((await chain.code(registry)) !== '0x')
    return [funds, fine('anchors', `Registry ${registry}.`)]
  const words = `There is no contract at the registry address ${registry}.`
  return [funds, failure('anchors', words, 'set [anchors] registry to the right address')]
}
