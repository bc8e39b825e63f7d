/** The dependencies of doors, jobs and flows: one member for each noun of the service. */
import type { Accounts } from '../access/accounts/account.ts'
import type { AccountCountsStore } from '../access/accounts/account-counts.ts'
import type { IsContractSignature } from '../access/accounts/contract-wallet.ts'
import type { Demo } from '../access/accounts/demo-port.ts'
import type { Nonces } from '../access/accounts/nonce.ts'
import type { Sessions } from '../access/accounts/session.ts'
import type { Keys } from '../access/keys/keys.ts'
import type { Members } from '../access/members/member.ts'
import type { SetupLinks } from '../access/operators/setup-links.ts'
import type { OperatorTokens } from '../access/operators/tokens.ts'
import type { Plans } from '../access/plan.ts'
import type { DepositPolicy } from '../billing/deposits/deposit.ts'
import type { Deposits } from '../billing/deposits/deposits.ts'
import type { MarginStore } from '../billing/margins/store.ts'
import type { SubscriptionStore } from '../billing/plans/store.ts'
import type { QuoteStore } from '../billing/quotes/quotes.ts'
import type { StatementStore } from '../billing/statement/store.ts'
import type { ExportSlots } from '../billing/usage/export-slots.ts'
import type { UsageStore } from '../billing/usage/store.ts'
import type { VoucherStore } from '../billing/vouchers/vouchers.ts'
import type { TroubleStore } from '../billing/webhooks/store/troubles.ts'
import type { WebhookStore } from '../billing/webhooks/store.ts'
import type { AdminStore } from '../front/admin/store.ts'
import type { ConsoleStore } from '../front/console/store.ts'
import type { ExplorerStore } from '../front/explorer/store.ts'
import type { OnboardingStore } from '../front/overview/store.ts'
import type { SiteStore } from '../front/site/store.ts'
import type { Health } from '../front/status/health-port.ts'
import type { StatusStore } from '../front/status/store.ts'
import type { TerminalStore } from '../front/terminal/store.ts'
import type { Chain } from '../kernel/chain.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Nusd } from '../kernel/money.ts'
import type { Random } from '../kernel/random.ts'
import type { Shard } from '../kernel/shard.ts'
import type { Ledger } from '../ledger/post.ts'
import type { AuditStore } from '../ledger/store/audit.ts'
import type { CachePlaces } from '../models/cache-places.ts'
import type { Catalogue } from '../models/catalogue.ts'
import type { Post, Reach } from '../models/upstream/checked-post.ts'
import type { Upstreams } from '../models/upstream/live-upstreams.ts'
import type { Anchoring } from '../proof/anchors/anchoring.ts'
import type { AnchorStore } from '../proof/anchors/store.ts'
import type { LiabilityStore } from '../proof/liabilities/store.ts'
import type { Heads } from '../proof/log/heads.ts'
import type { Logs } from '../proof/log/logs.ts'
import type { Sequencer } from '../proof/log/sequence.ts'
import type { CheckpointStore } from '../proof/log/store/checkpoint.ts'
import type { CosignatureStore } from '../proof/log/store/cosignatures.ts'
import type { TileStore } from '../proof/log/store/tiles.ts'
import type { LogStore } from '../proof/log/store.ts'
import type { Witnesses } from '../proof/log/witnesses.ts'
import type { PassportStore } from '../proof/passports/store.ts'
import type { AcknowledgedRuns } from '../proof/receipts/acknowledged.ts'
import type { AskChain } from '../proof/receipts/evidence.ts'
import type { ReceiptStore } from '../proof/receipts/receipts.ts'
import type { ShareStore } from '../proof/receipts/store/share.ts'
import type { NoteSigner } from '../proof/signer/ed25519.ts'
import type { Signer } from '../proof/signer/signer.ts'
import type { Signers } from '../proof/signer/signers.ts'
import type { UpstreamEvidenceStore } from '../proof/upstream-evidence/store.ts'
import type { LiveRuns } from '../runs/live-runs.ts'
import type { Reports } from '../runs/reports.ts'
import type { RunStore } from '../runs/runs.ts'
import type { CountStore } from '../storage/counts/store.ts'
import type { LeaseClock } from '../storage/db/engine/lease-clock.ts'
import type { ReadCache } from '../storage/db/engine/read-cache.ts'
import type { Replies, Sealer } from '../storage/idempotency/call.ts'
import type { CallStore } from '../storage/idempotency/store.ts'
import type { KeptStore } from '../storage/responses/store.ts'
import type { SlotPlaces } from '../storage/slots/store/owners.ts'
import type { TextStore } from '../storage/texts/store.ts'
import type { Limiters } from '../web/http/limits.ts'
import type { MemoryBudget } from '../web/http/memory-budget.ts'
import type { ChangeDesk } from './changes/changes-port.ts'
import type { Meters } from './metrics/meters.ts'
import type { ProviderDesk } from './providers/desk-port.ts'
import type { ReloadResult } from './reload-port.ts'
import type { SetupDesk } from './setup/desk-port.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** Everything the outside world gives us. Built once, in wiring.ts. */
export type Deps = {
  settings: Settings
  clock: Clock
  /** Clock for leases and node liveness. */
  leaseClock: LeaseClock
  random: Random
  ids: Ids
  /** This shard among the others; absent without `[shard]`. */
  shard?: Shard | undefined
  slots: SlotPlaces
  log: Log
  ledger: Ledger
  accounts: Accounts
  admin: AdminStore
  audits: AuditStore
  sessions: Sessions
  /** Undefined in a service for real use. */
  demo: Demo | undefined
  /** The counts of an account, taken when it opens a page. */
  extent: AccountCountsStore
  nonces: Nonces
  /** Links that appoint the first operator. */
  setupLinks: SetupLinks
  /** Tokens of the operator API. */
  operatorTokens: OperatorTokens
  /** Undefined unless contract wallets may sign in: then nothing ever asks the chain. */
  isContractSignature: IsContractSignature | undefined
  keys: Keys
  members: Members
  console: ConsoleStore
  runs: RunStore
  /** Calls with an Idempotency-Key, and the sealing of their answers. */
  calls: CallStore
  replies: Replies
  /** Encrypts data that leaves the process and comes back, in cookies and in the database. */
  sealer: Sealer
  passports: PassportStore
  plans: Plans
  subscriptions: SubscriptionStore
  statements: StatementStore
  receipts: ReceiptStore
  shares: ShareStore
  site: SiteStore
  texts: TextStore
  /** Responses that are kept for a next turn. */
  keptItems: KeptStore
  status: StatusStore
  /** Reads that are done again only after something was written. */
  readCache: ReadCache
  terminal: TerminalStore
  webhooks: WebhookStore
  /** Troubles of the service, and the nodes that see them. */
  troubles: TroubleStore
  /** Encrypts the secrets of webhooks, each for its own id. */
  webhookSecrets: Pick<Sealer, 'seal' | 'open'>
  /** Whether a webhook may name this URL, before its name is resolved. */
  isWebhookTarget: (url: string) => boolean
  /** Posts to a server that users name, at an address that was checked. */
  postChecked: Post
  onboarding: OnboardingStore
  logs: Logs
  logStore: LogStore
  checkpoints: CheckpointStore
  /** Witnesses of the log, and their signatures on its heads. */
  witnesses: Witnesses
  cosignatures: CosignatureStore
  /** Signed statements of the debts to all accounts. */
  liabilities: LiabilityStore
  /** Runs whose upstreams sign their answers. */
  upstreamEvidence: UpstreamEvidenceStore
  /** The log as tiles. */
  tiles: TileStore
  /** The part of the log that must exist, and whether it does. */
  heads: Heads
  acknowledged: AcknowledgedRuns
  /** Undefined without `chain.rpc_urls`: then nothing ever asks a chain. */
  chain: Chain | undefined
  /** Must agree before a large deposit is credited; undefined without `chain.second_rpc_urls`. */
  secondChain: Chain | undefined
  anchors: AnchorStore
  anchoring: Anchoring
  /** Asks our own chain for the evidence of a receipt, and remembers it for a moment. */
  askChain: AskChain
  deposits: Deposits
  /** Undefined without a chain or a treasury: deposits are off. */
  depositPolicy: DepositPolicy | undefined
  health: Health
  limiters: Limiters
  /** The bytes that clients make this process keep. */
  memory: MemoryBudget
  /** Counters of this process. */
  meters: Meters
  /** Undefined without `telemetry.endpoint`: then no run records anything. */
  telemetry: Telemetry | undefined
  catalogue: Catalogue
  upstreams: Upstreams
  signer: Signer
  /** The key that signs checkpoints as notes. */
  noteSigner: NoteSigner
  signers: Signers
  sequencer: Sequencer
  live: LiveRuns
  /** Reported runs, for those that end without a report. */
  reports: Reports
  /** The steps and keys that have the caches of conversations. */
  cachePlaces: CachePlaces
  usage: UsageStore
  vouchers: VoucherStore
  /** Promised prices. */
  quotes: QuoteStore
  /** Revenue and cost of runs; for the operator alone. */
  margins: MarginStore
  counts: CountStore
  explorer: ExplorerStore
  exportSlots: ExportSlots
  /** Reads the configuration again; undefined where nothing does, as while trying it out. */
  reload: { again: (() => Promise<ReloadResult>) | undefined }
  /** Adds providers to the configuration file; undefined where it is not read again. */
  providers: { desk: ProviderDesk | undefined }
  /** Changes models and upstreams in the configuration file; undefined as above. */
  changes: { desk: ChangeDesk | undefined }
  /** Writes the first operator into the configuration file; undefined as above. */
  setup: { desk: SetupDesk | undefined }
  version: { version: string; commit: string | null }
}

/** The part of the configuration that the domain and the doors need. */
export type Settings = {
  /** Wallets of the operators, in lower case; those of the configuration of now. */
  admins: readonly string[]
  /** With `--dev` the test account, which clients on this machine may sign in as. */
  devAccount?: string | undefined
  /** Public origin of links: lower case, no trailing slash. */
  baseUrl: string
  /** The origin of the current log, fixed at its first leaf; the issuer of every receipt. */
  issuer: string
  /** The address that the server listens on; its loopback names are answered too. */
  listen: { hostname: string; port: number }
  trustedProxies: readonly string[]
  /** The address that deposits are sent to; null if there are none. */
  treasury: string | null
  /** The contract of the stablecoin that deposits are made in. */
  token: string
  /** Longest that a receipt waits for its anchor. */
  maxAnchorDelayS: number
  /** How often liabilities are published, 0 for never, and how long accounts can ask for proofs. */
  liabilities: { everyMs: number; keepMs: number }
  /** Bytes of a request body. */
  bodyBytes: number
  /** Bytes that clients make a process keep: of bodies, and of streams that they do not read. */
  clientBytes: number
  /** How long responses are kept for a next turn, 0 for never, and how much of an account. */
  keepResponsesHours: number
  keptBytesPerAccount: number
  /** Longest that one may take to arrive. */
  bodyTimeoutS: number
  /** The most slow bodies of one client address at once. */
  slowBodies: number
  /** How long an answer is read on for a client that hung up. */
  drainMs: number
  /** Rows and bytes that an account may store a day without paying; 0 for no limit. */
  freeWrites: number
  freeBytes: number
  /** Runs with a hold that the client may end a day at no cost; 0 for no limit. */
  unpaidRuns: number
  /** The operator's account that pays for visitors. */
  sponsor: string
  /** Whether accounts that never had money run built-in models; undefined: unless on https. */
  freeForAll: boolean | undefined
  /** Runs at once of an account without money; 0 for no limit. */
  unfundedRuns: number
  /** Requests of one wallet for its dashboard. */
  sessionPerMinute: number
  /** Failures of one client address before further failures are 429. */
  failedAuthPerMinute: number
  /** Requests without a key of one client address. */
  keylessPerMinute: number
  /** Limits of questions without an account, and of the operator's spending on them. */
  terminal: { dailyBudgetNusd: Nusd; asksPerDay: number }
  /** Whether a webhook of the operator wants the ends of runs, of all accounts. */
  tellsRuns: boolean
  /** The signing secrets of the operator's webhooks, by id. */
  webhookSecrets: ReadonlyMap<string, string>
  /** Addresses beside the public internet that webhooks may reach. */
  webhookReach: Reach
  /** This process among the nodes of one database. */
  node: string
  /** SHA-256 of what its configuration sells, and from where. */
  configDigest: string
  /** How many of them live, and share the limits of keys; a job keeps it up to date. */
  nodes: number
}
