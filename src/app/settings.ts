/** Derives the settings of the domain and the routes from the configuration. */
import { sponsorAccount, toAccountId } from '../access/accounts/account.ts'
import type { DepositPolicy } from '../billing/deposits/deposit.ts'
import type { Config } from '../config/config.ts'
import { type Block, parseBlock } from '../kernel/network-block.ts'
import { type Shard, shardAmong } from '../kernel/shard.ts'
import { configDigest } from './config-digest.ts'
import { operatorSecrets } from './configured-webhooks.ts'
import { usableMemory } from './usable-memory.ts'

/** A quarter of the usable memory, because a body takes about three times its bytes. */
const defaultClientBytes = Math.max(256 * 1024 * 1024, Math.floor(usableMemory() / 4))

/** The settings of a service, fixed and live. */
export const settingsOf = (config: Config) => ({
  baseUrl: config.base_url,
  listen: config.listen,
  trustedProxies: config.trusted_proxies,
  treasury: config.chain.treasury ?? null,
  token: config.chain.token,
  sponsor: sponsorAccount,
  maxAnchorDelayS: config.anchors.max_delay_s,
  liabilities: {
    everyMs: config.liabilities.every_h * 3_600_000,
    keepMs: config.liabilities.keep_days * 86_400_000,
  },
  webhookReach: { allowed: blocksOf(config), isLoopbackAllowed: false },
  ...liveSettingsOf(config),
})

/** Settings that a reload changes in a running service. */
export const liveSettingsOf = (config: Config) => ({
  configDigest: configDigest(config),
  admins: config.admins.map(toAccountId),
  tellsRuns: config.webhooks.some(({ events }) => events.includes('run.ended')),
  webhookSecrets: operatorSecrets(config.webhooks),
  bodyBytes: config.limits.body_bytes,
  clientBytes: config.limits.client_bytes ?? defaultClientBytes,
  keepResponsesHours: config.limits.keep_responses_hours,
  keptBytesPerAccount: config.limits.keep_responses_bytes,
  bodyTimeoutS: config.limits.body_timeout_s,
  freeWrites: config.limits.free_writes_per_day,
  freeBytes: config.limits.free_bytes_per_day,
  unpaidRuns: config.limits.unpaid_runs_per_day,
  sessionPerMinute: config.limits.session_per_minute,
  unfundedRuns: config.limits.unfunded_runs,
  freeForAll: config.limits.free_for_all,
  slowBodies: config.limits.slow_bodies,
  drainMs: config.limits.drain_s * 1000,
  failedAuthPerMinute: config.limits.failed_auth_per_minute,
  keylessPerMinute: config.limits.keyless_per_minute,
  terminal: {
    dailyBudgetNusd: config.terminal.daily_budget_nusd,
    asksPerDay: config.terminal.asks_per_day,
  },
})

const blocksOf = ({ outbound }: Config): Block[] =>
  outbound.allow_networks.flatMap((one) => parseBlock(one) ?? [])

/** Undefined without a chain to watch or a treasury to send to: deposits are off. */
export function depositPolicyOf({ chain, deposits }: Config): DepositPolicy | undefined {
  if (chain.rpc_urls.length === 0 || chain.treasury === undefined) return undefined
  return {
    treasury: toAccountId(chain.treasury),
    token: toAccountId(chain.token),
    decimals: chain.token_decimals,
    minNusd: deposits.min_nusd,
    softLimitNusd: deposits.soft_limit_nusd_per_day,
    finalAboveNusd: deposits.final_above_nusd,
    secondAboveNusd: deposits.second_above_nusd,
    pollMs: deposits.poll_ms,
  }
}

/** Whether contract wallets may sign in: where a chain can be asked, unless the setting says. */
export const takesContractWallets = ({ sign_in, chain }: Config): boolean =>
  sign_in.contract_wallets ?? chain.rpc_urls.length > 0

/** This shard among the others; undefined without `[shard]`. */
export const shardIn = ({ shard, shards }: Pick<Config, 'shard' | 'shards'>): Shard | undefined =>
  shard.id === undefined ? undefined : shardAmong(shard.id, shards)

/** The name of the log of a new database: the issuer of its receipts. */
export const originOf = (config: Pick<Config, 'base_url' | 'shard'>): string =>
  config.shard.id === undefined ? config.base_url : `${config.base_url}#${config.shard.id}`
