/** Limits the public's use of a demonstration between two resets. */
import type { Demo } from '../../access/accounts/demo-port.ts'
import type { Clock, Millis } from '../../kernel/clock.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { retryHeaders } from '../../kernel/retry-headers.ts'
import { rateKey } from '../../web/http/client-address.ts'
import { makeLimiter, type Verdict } from '../../web/http/limits.ts'
import { hourText } from '../../web/ui/when.tsx'
import type { Deps } from '../deps-port.ts'

/** The limits; docs/demo.md says what they bound. Those without a time count until the reset. */
export const demoLimits = {
  /** Demo money of a new account, in nano-USD. */
  credit: 5_000_000_000n as Nusd,
  /** Bytes of one request body, which is also the most that is uploaded at once. */
  bodyBytes: 65_536,
  /** Bytes of all bodies, and of those of one network. */
  bytes: { all: 134_217_728, each: 16_777_216 },
  /** Requests of one network a minute, of any kind, and of those that can change something. */
  requestsPerMinute: 1200,
  writesPerMinute: 240,
  writes: { all: 60_000, each: 12_000 },
  /** Accounts that sign in for the first time, of all networks and of one. */
  visitors: { all: 2000, each: 60 },
  /** Runs of one account a minute; of all accounts, and of one. */
  runsPerMinute: 30,
  runs: { all: 20_000, each: 300 },
  /** Keys that are made, receipts that are shared, passports that are made: all, of one account. */
  keys: { all: 5000, each: 20 },
  shares: { all: 3000, each: 30 },
  passports: { all: 500, each: 2 },
  /** Runs in flight, and active keys of an account. */
  admission: 256,
  activeKeys: 10,
} as const

export type DemoLimits = Omit<
  { [Name in keyof typeof demoLimits]: (typeof demoLimits)[Name] extends number ? number : Share },
  'credit'
> & { credit: Nusd }

/** The most of something for all, and for each. */
type Share = { all: number; each: number }

/** Networks and accounts that are counted apart; further ones share one count. */
const maxNames = 20_000

/** Counts for all and for each name. Says what is used up, and counts nothing then. */
function tally({ all, each }: Share) {
  const counts = new Map<string, number>()
  let total = 0
  return (name: string, count = 1): 'all' | 'each' | undefined => {
    const own = counts.has(name) || counts.size < maxNames ? name : ''
    const used = counts.get(own) ?? 0
    if (total + count > all) return 'all'
    if (used + count > each) return 'each'
    total += count
    counts.set(own, used + count)
    return undefined
  }
}

type Needs = {
  clock: Clock
  limits: DemoLimits
  /** When the next reset is, in ms. */
  resetsAt: () => Millis
  /** Requests of the demonstration's own people, which are not limited. */
  isOwn: (request: Request) => boolean
}

/** The limits of one generation of data, which are as old as it is. */
export type LimitedDemo = Demo & {
  /** From now on visitors are there. */
  open(): void
  /** Credits and limits the accounts of a service, before it answers anything. */
  guard(deps: Deps, credit: (account: string) => Promise<unknown>): void
}

export function limitedDemo({ clock, limits, resetsAt, isOwn }: Needs): LimitedDemo {
  const requests = makeLimiter(clock)
  const writes = makeLimiter(clock)
  const allWrites = tally(limits.writes)
  const bytes = tally(limits.bytes)
  const visitors = tally(limits.visitors)
  const known = new Set<string>()
  let credit = async (_account: string): Promise<unknown> => undefined
  let beganAt = clock.now()

  /** @throws Refusal `rate_limited` that says when there is more */
  const refuseUntilReset = (words: string): never =>
    refuse('rate_limited', { message: words, headers: retryHeaders(untilReset()) })
  const untilReset = (): number => Math.max(1000, resetsAt() - clock.now())
  const assertLeft = (used: 'all' | 'each' | undefined, what: string, whose: string): void => {
    if (used === 'all') refuseUntilReset(`This demo has no ${what} left.`)
    if (used === 'each') refuseUntilReset(`This demo has no ${what} left for ${whose}.`)
  }
  const network = 'your network address'

  return {
    credit: limits.credit,
    get beganAt() {
      return beganAt
    },
    get resetsAt() {
      return resetsAt()
    },
    open() {
      beganAt = clock.now()
    },
    admit(request, address) {
      if (isOwn(request)) return
      const key = rateKey(address)
      assertSlow(requests.take(key, limits.requestsPerMinute))
      if (request.method === 'GET' || request.method === 'HEAD') return
      assertSlow(writes.take(key, limits.writesPerMinute))
      assertLeft(allWrites(key), 'changes', network)
      const length = request.headers.get('content-length')
      const sent = length === null ? limits.bodyBytes : Number(length)
      // A longer one is refused where it is read.
      assertLeft(bytes(key, Math.min(sent, limits.bodyBytes) || 0), 'bytes to send', network)
    },
    async welcome(account, address) {
      if (known.has(account)) return
      assertLeft(visitors(rateKey(address)), 'places for new visitors', network)
      known.add(account)
      try {
        await credit(account)
      } catch (error) {
        known.delete(account)
        throw error
      }
    },
    explain: (refusal) => explained(refusal, { beganAt, resetsAt: resetsAt() }),
    guard(deps, give) {
      credit = give
      limitAccounts(deps, { clock, limits, known, assertLeft })
    },
  }
}

/** @throws Refusal `rate_limited` */
function assertSlow(verdict: Verdict): void {
  if (!verdict.ok)
    throw new Refusal('rate_limited', { headers: retryHeaders(verdict.retryAfterMs) })
}

type Rules = {
  clock: Clock
  limits: DemoLimits
  known: ReadonlySet<string>
  assertLeft: (used: 'all' | 'each' | undefined, what: string, whose: string) => void
}

/** Limits what accounts do where the service does it, whichever door it comes by. */
function limitAccounts(deps: Deps, { clock, limits, known, assertLeft }: Rules): void {
  const perMinute = makeLimiter(clock)
  const runs = tally(limits.runs)
  const keys = tally(limits.keys)
  const shares = tally(limits.shares)
  const passports = tally(limits.passports)
  const whose = 'your account'
  const { live, ledger, shares: shareStore, passports: passportStore } = deps
  const { admit } = live
  live.admit = (caller, nodes, unfunded) => {
    if (known.has(caller.account)) {
      assertSlow(perMinute.take(caller.account, limits.runsPerMinute))
      assertLeft(runs(caller.account), 'runs', whose)
    }
    admit(caller, nodes, unfunded)
  }
  deps.ledger = {
    post(command) {
      const { account, mints } = command
      if (mints && known.has(account)) assertLeft(keys(account), 'keys', whose)
      return ledger.post(command)
    },
  }
  deps.shares = {
    ...shareStore,
    change: (receiptId, decide) =>
      shareStore.change(receiptId, (held) => {
        const change = decide(held)
        const account = change.audit?.accountId
        const isNew = change.share !== undefined && held.share === undefined
        if (isNew && account && known.has(account)) assertLeft(shares(account), 'shares', whose)
        return change
      }),
  }
  deps.passports = {
    ...passportStore,
    claim(claim) {
      const { accountId } = claim.row
      if (known.has(accountId)) assertLeft(passports(accountId), 'passports', whose)
      return passportStore.claim(claim)
    },
  }
  deps.isWebhookTarget = () => refuse('conflict', 'This demo sends nothing: webhooks are off.')
  deps.postChecked = () => refuse('conflict', 'This demo sends nothing: webhooks are off.')
}

/** Refusals of things that a reset has deleted. */
const lost = new Set(['invalid_key', 'session_required', 'receipt_not_found', 'nonce_invalid'])

function explained(refusal: Refusal, at: { beganAt: Millis; resetsAt: Millis }): Refusal {
  const { detail, type, status, message } = refusal
  if (status === 429) {
    return new Refusal(type, {
      ...detail,
      message: `${message} The demo is reset at ${hourText(at.resetsAt)}.`,
      metadata: { ...detail.metadata, resets_at: toRfc3339(at.resetsAt) },
    })
  }
  if (!lost.has(type)) return refusal
  const words = `${message} The demo was reset at ${hourText(at.beganAt)}: what was before is gone.`
  return new Refusal(type, { ...detail, message: words })
}
