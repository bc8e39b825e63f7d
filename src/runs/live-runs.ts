/** The runs in flight in this process: admits them within limits and finds them to stop them. */
import type { Caller } from '../access/keys/key.ts'
import { mayTake } from '../kernel/fair-share.ts'
import { refuse } from '../kernel/refusal.ts'
import { retryHeaders } from '../kernel/retry-headers.ts'
import type { LiveRun } from './live-run.ts'
import { Pace } from './pace.ts'
import { SpentBudgets } from './spent-budgets.ts'

/** The caller that asks for a place, and the plan's limit of runs in flight for each key. */
type AdmittedCaller = Pick<Caller, 'account' | 'chain' | 'isEmpty'> & {
  plan: { limits: { concurrency: number } }
}

export type LiveRuns = {
  /**
   * Takes a place for a run in this process and in each key of the chain; return it by `release`.
   * A key has the plan's places, or fewer of its own, divided by the number of `nodes`.
   * @throws Refusal `unavailable` when the process is full, `concurrency_limited` when a key or
   * the account's share is.
   */
  admit(caller: AdmittedCaller, nodes: number, unfunded?: number): void
  /**
   * Takes one of the `unfunded` places of an account without money before the body of its request
   * is read, and gives what returns it; undefined for other accounts.
   * @throws Refusal `concurrency_limited`
   */
  expectBody(caller: AdmittedCaller, nodes: number, unfunded: number): (() => void) | undefined
  release(account: string, lineage: readonly string[]): void
  /** Accounts without money that are refused for the rest of the day. */
  usedUp: SpentBudgets
  /** The turns of accounts without money. */
  pace: Pace
  /** Registers the id of a run before its row is stored, until it is added or fails to begin. */
  expect(id: string): void
  unexpect(id: string): void
  /** Whether this process is beginning the run, is running it, or still has to end it. */
  isOurs(id: string): boolean
  /** Admits no further runs: the server is stopping. */
  close(): void
  /** Places taken. */
  count(): number
  /** The runs admitted since the start. */
  total(): number
  add(run: LiveRun): void
  /** Called after the COMMIT of the run's end, or after that failed. */
  remove(id: string): void
  /** Notified when a run begins or ends in this process. */
  notices: RunNotices
  find(id: string): LiveRun | undefined
  all(): LiveRun[]
  /** Remembers a settlement that could not be stored, for `settleAgain`. */
  settleLater(id: string, settle: () => Promise<void>): void
  /** Retries all of them. @throws the first error of those that failed again. */
  settleAgain(): Promise<void>
}

/** @param options.admission runs in flight in the whole process */
export function liveRuns(options: { admission: number }): LiveRuns {
  const runs = new Map<string, LiveRun>()
  const expected = new Set<string>()
  const unsettled = new Map<string, () => Promise<void>>()
  /** Runs in flight by account, and by key including its child keys. */
  const busy = new Map<string, number>()
  /** Bodies that are read for accounts without money. */
  const reading = new Map<string, number>()
  const assertPlace = (
    { account, isEmpty }: AdmittedCaller,
    { nodes, most, more = 0 }: { nodes: number; most: number; more?: number },
  ): void => {
    if (!isEmpty || most === 0) return
    if ((busy.get(account) ?? 0) + more < Math.ceil(most / nodes)) return
    refuse('concurrency_limited', { message: withoutMoney, headers: soon })
  }
  const take = (id: string): void => void busy.set(id, (busy.get(id) ?? 0) + 1)
  const leave = (id: string): void => {
    const left = (busy.get(id) ?? 0) - 1
    if (left > 0) busy.set(id, left)
    else busy.delete(id)
  }
  const notices = runNotices()
  let admitted = 0
  let total = 0
  let closed = false
  return {
    admit(caller, nodes, unfunded = 0) {
      const { account, chain, plan } = caller
      if (closed) refuse('unavailable', { message: 'The server is stopping. Try again.' })
      if (admitted >= options.admission) {
        refuse('unavailable', {
          message: 'The server is running as many runs as it can. Try again in a second.',
          headers: soon,
        })
      }
      if (!mayTake(busy.get(account) ?? 0, options.admission - admitted)) {
        refuse('concurrency_limited', crowded)
      }
      assertPlace(caller, { nodes, most: unfunded })
      for (const { id, concurrency } of chain) {
        const most = Math.min(concurrency ?? plan.limits.concurrency, plan.limits.concurrency)
        if ((busy.get(id) ?? 0) >= Math.ceil(most / nodes)) refuse('concurrency_limited')
      }
      admitted++
      total++
      take(account)
      for (const { id } of chain) take(id)
    },
    expectBody(caller, nodes, unfunded) {
      const { account, isEmpty } = caller
      if (!isEmpty || unfunded === 0) return undefined
      const own = reading.get(account) ?? 0
      assertPlace(caller, { nodes, most: unfunded, more: own })
      reading.set(account, own + 1)
      return () => {
        const left = (reading.get(account) ?? 1) - 1
        if (left > 0) reading.set(account, left)
        else reading.delete(account)
      }
    },
    usedUp: new SpentBudgets(),
    pace: new Pace(),
    release(account, lineage) {
      admitted--
      leave(account)
      for (const id of lineage) leave(id)
    },
    expect: (id) => void expected.add(id),
    unexpect: (id) => void expected.delete(id),
    isOurs: (id) => expected.has(id) || runs.has(id) || unsettled.has(id),
    close() {
      closed = true
    },
    count: () => admitted,
    total: () => total,
    add(run) {
      runs.set(run.id, run)
      notices.tell(run.row.accountId)
    },
    remove(id) {
      const run = runs.get(id)
      run?.release()
      if (runs.delete(id) && run) notices.tell(run.row.accountId)
    },
    notices,
    find: (id) => runs.get(id),
    all: () => [...runs.values()],
    settleLater: (id, settle) => void unsettled.set(id, settle),
    async settleAgain() {
      // Together, so that the ledger takes them in batches: an outage leaves hundreds.
      const again = async ([id, settle]: [string, () => Promise<void>]): Promise<void> => {
        await settle()
        unsettled.delete(id)
      }
      const faults: unknown[] = []
      const left = [...unsettled]
      for (let i = 0; i < left.length; i += settledAtOnce) {
        const tried = await Promise.allSettled(left.slice(i, i + settledAtOnce).map(again))
        for (const one of tried) if (one.status === 'rejected') faults.push(one.reason)
      }
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** The headers that say when a place may be free again. */
const soon = retryHeaders(1000)

const withoutMoney =
  'An account without money runs few requests at once. Wait for one to end, or deposit.'

/** Settlements that are tried again in one go. */
const settledAtOnce = 128

const crowded =
  'Your account already uses its share of the runs this server can take. Wait for one to end.'

type RunNotices = {
  tell(account: string): void
  /** Returns a function that stops watching. */
  watch(account: string, watcher: () => void): () => void
  /** The number of watchers of an account. */
  count(account: string): number
}

function runNotices(): RunNotices {
  const watchers = new Map<string, Set<() => void>>()
  return {
    tell(account) {
      for (const watcher of watchers.get(account) ?? []) watcher()
    },
    watch(account, watcher) {
      const all = watchers.get(account) ?? new Set()
      watchers.set(account, all.add(watcher))
      return () => {
        all.delete(watcher)
        if (all.size === 0) watchers.delete(account)
      }
    },
    count: (account) => watchers.get(account)?.size ?? 0,
  }
}
