/** Every setting by section and name, with its form, default and help. */

import { limitEntries } from './limit-entries.ts'
import { amount } from './money-values.ts'
import { live, optional, type Setting, secret, set } from './setting.ts'
import {
  address,
  aliasTable,
  collectorHeaders,
  collectorUrl,
  databaseUrl,
  decimal,
  filePath,
  flag,
  hostPort,
  httpUrl,
  integer,
  listOf,
  network,
  oneOf,
  origin,
  shardId,
  slots,
  upstreamId,
} from './values.ts'

/** Every setting but the lists of tables, by section and name. */
export const table = {
  '': {
    listen: set(hostPort, '127.0.0.1:4663', 'Where the server listens.'),
    base_url: optional(
      origin,
      'Public origin: sign-in domain, receipt issuer, links. Needed to listen beyond loopback; ' +
        'else http://localhost with the port of listen.',
    ),
    data: set(filePath, './data', 'Folder of the database, the signer key and the lock.'),
    database_url: secret(
      optional(databaseUrl, 'The database; counterfoil.db inside data when absent.'),
    ),
    database_connections: set(
      integer('connections', 1, 1000),
      '16',
      'Most connections of this server to PostgreSQL; it opens two more, for notices and probes. ' +
        'All servers of a database together must stay below its max_connections.',
    ),
    trusted_proxies: set(listOf(network), '', 'Proxies whose X-Forwarded-For is believed.'),
    aliases: live(
      optional(
        aliasTable,
        'Other names of models, for clients with names of their own: { "gpt-5" = "acme/large", ' +
          '"claude-*" = "acme/large" }. An exact name goes before a glob, a longer glob before a ' +
          'shorter one; rights, prices and receipts use the real name.',
      ),
    ),
    admins: live(
      set(listOf(address), '', 'Wallets of the operators, who may use /dashboard/admin.'),
    ),
  },
  log: {
    level: live(
      set(oneOf('debug', 'info', 'warn', 'error'), 'info', 'Least severe level that is written.'),
    ),
    format: set(
      oneOf('auto', 'pretty', 'json'),
      'auto',
      'Format of the log on stderr; auto is pretty on a terminal and JSON elsewhere.',
    ),
  },
  metrics: {
    listen: optional(
      hostPort,
      'Where /metrics listens, apart from the API; a port alone means loopback. Off when absent.',
    ),
  },
  telemetry: {
    endpoint: optional(
      collectorUrl,
      'OTLP/HTTP collector; /v1/traces is added. A span is exported for each sampled run. Off ' +
        'when absent.',
    ),
    headers: secret(
      optional(
        collectorHeaders,
        'Headers of requests to the collector; in a variable name=value,name=value.',
      ),
    ),
    sample: set(
      decimal('share', 0, 1),
      '1',
      'Sampling rate for requests without a traceparent; otherwise its flag decides.',
    ),
    pass_to: live(
      set(listOf(upstreamId), '', 'Ids of upstreams that get traceparent and tracestate.'),
    ),
  },
  limits: limitEntries,
  chain: {
    rpc_urls: secret(set(listOf(httpUrl), '', 'RPC servers of chain 4663, tried in order.')),
    second_rpc_urls: secret(
      set(
        listOf(httpUrl),
        '',
        'RPC servers of another operator, which must agree before a deposit is credited.',
      ),
    ),
    treasury: optional(address, 'Where deposits are sent. Deposits are off when absent.'),
    token: set(
      address,
      '0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168',
      'The stablecoin accepted for deposits.',
    ),
    token_decimals: set(integer('digits', 0, 18), '6', 'Decimals that the token must report.'),
  },
  outbound: {
    allow_networks: set(
      listOf(network),
      '',
      'Private networks that webhooks may reach, over TLS; else only public addresses.',
    ),
  },
  deposits: {
    min_nusd: set(amount('nUSD'), '10_000_000', 'Smallest deposit that is credited.'),
    soft_limit_nusd_per_day: set(
      amount('nUSD'),
      '100_000_000_000',
      'Deposits of an account up to this amount a day need 20 blocks; above it, a safe block.',
    ),
    final_above_nusd: set(
      amount('nUSD'),
      '10_000_000_000_000',
      'Deposits above this wait for a finalized block.',
    ),
    second_above_nusd: set(
      amount('nUSD'),
      '0',
      'Deposits above this need the agreement of second_rpc_urls, if set.',
    ),
    poll_ms: set(integer('ms', 50, 3_600_000), '1_000', 'Pause between polls of the chain.'),
  },
  witness_policy: {
    required: set(
      integer('witnesses', 0, 32),
      '0',
      'Witness signatures expected of a head of the log. Reported only; nothing waits for them.',
    ),
  },
  liabilities: {
    every_h: set(
      integer('h', 0, 168),
      '24',
      'Hours between two signed statements of what all accounts are owed; 0 for none.',
    ),
    keep_days: set(
      integer('days', 1, 3650),
      '35',
      'How long accounts can get their proof of such a statement.',
    ),
  },
  anchors: {
    registry: optional(address, 'The anchor registry; `counterfoil anchor deploy` deploys one.'),
    sender_key_file: optional(filePath, 'Private key that pays for anchors. Off when absent.'),
    min_receipts: set(integer('receipts', 1), '1_000', 'New receipts that make an anchor due.'),
    max_delay_s: set(integer('s', 1), '600', 'Longest time a receipt waits for its anchor.'),
    min_interval_s: set(integer('s', 1), '60', 'Shortest time between two anchors.'),
  },
  signer: {
    keystore_file: optional(filePath, 'Web3 keystore (version 3) of the key that signs receipts.'),
    password_file: optional(filePath, 'Password of the keystore, in a file of mode 0600.'),
    key_file: optional(
      filePath,
      'The key in a file of mode 0600. Else COUNTERFOIL_SIGNER_KEY, else signer.key inside data.',
    ),
  },
  shard: {
    id: optional(
      shardId,
      'This shard, one of several services with a database each; its log is base_url#id. Cannot ' +
        'change later. No shards when absent.',
    ),
    slots: optional(
      slots,
      'Slots of this shard, as a check: the start fails unless the map says the same.',
    ),
    map: optional(filePath, 'File of all shards, their slots and URLs.'),
  },
  sign_in: {
    contract_wallets: optional(
      flag,
      'Accept contract wallets (ERC-1271, ERC-6492), checked over chain.rpc_urls. Default: true ' +
        'if there are any.',
    ),
  },
  terminal: {
    daily_budget_nusd: live(
      set(
        amount('nUSD'),
        '0',
        'Daily budget for upstream models in the public terminal; built-in models are free.',
      ),
    ),
    asks_per_day: live(set(integer('asks', 0), '10', 'Questions per client address per day.')),
  },
} as const

/** A row of the table with all the ways to set it. */
export type Row = {
  section: string
  name: string
  /** Dotted, as an error names it: `limits.rpm`. */
  path: string
  env: string
  /** With its dashes: `--limits-rpm`. */
  flag: string
  /** The flag's name in commander's `opts()`: `limitsRpm`. */
  option: string
  setting: Setting<unknown>
}

export const rows: readonly Row[] = Object.entries(table).flatMap(([section, settings]) =>
  Object.entries(settings).map(([name, setting]) => {
    const path = section === '' ? name : `${section}.${name}`
    const words = path.split(/[._]/)
    return {
      section,
      name,
      path,
      env: `COUNTERFOIL_${words.join('_').toUpperCase()}`,
      flag: `--${words.join('-')}`,
      option: words.map((w, i) => (i === 0 ? w : w.charAt(0).toUpperCase() + w.slice(1))).join(''),
      setting: setting as Setting<unknown>,
    }
  }),
)

/** The value of a setting in a configuration. */
export function valueIn(config: object, { section, name }: Pick<Row, 'section' | 'name'>): unknown {
  const sections = config as Record<string, unknown>
  const values = section === '' ? sections : (sections[section] as Record<string, unknown>)
  return values[name]
}
