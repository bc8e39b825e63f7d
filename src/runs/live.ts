import type { Caller } from '../access/keys/key.ts'
import type { Json } from '../kernel/canonical.ts'
import { mayTake } from '../kernel/fair-share.ts'
import { refuse } from '../kernel/refusal.ts'
import { type StopSignal, stopSwitch } from '../kernel/stop.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Bound } from '../models/bound.ts'
import type { Model } from '../models/model.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { runNotices } from './notices.ts'

/** Why a run was stopped before its upstream was done. */
export type StopReason =
  | 'client_gone'
  | 'cancelled'
  | 'key_revoked'
  | 'account_suspended'
  | 'session_ended'
  | 'shutdown'

/** A run of this process between its hold and its settle. */
export type LiveRun = {
  id: string
  row: RunRow
  model: Model
  bound: Bound
  /** The request in OpenAI's shape. */
  body: JsonObject
  /** The request as it was received; only where the account wants its texts kept. */
  received: Json | undefined
  /** The scope of the call that began it; only where that had an Idempotency-Key. */
  call: string | undefined
  /** What the request that began it belongs to. */
  trace: Trace | undefined
  /** The session of the browser that asked; the run stops with it. None for a run of a key. */
  session: string | undefined
  /** From {@link Clock.monotonic}. */
  startedAt: number
  signal: StopSignal
  /** Stops the upstream; what was delivered is charged. Only the first reason counts. */
  stop(reason: StopReason): void
  stopped(): StopReason | undefined
  /**
   * Called with each batch of chunks as it goes out, and once with nothing at the end. A
   * background run first tells again what it said so far.
   */
  watch(watcher: (chunks: JsonObject[] | undefined) => void): () => void
  tell(chunks: JsonObject[] | undefined): void
}

/** How the log names a run: its id, and its caller's trace if there is one. */
export const namesOf = ({ id, trace }: Pick<LiveRun, 'id' | 'trace'>) => ({
  run_id: id,
  ...(trace ? { trace_id: trace.id } : {}),
})

/** Who asks for a place, and what limits that. */
type Admitted = Pick<Caller, 'account' | 'chain'> & { plan: { limits: { concurrency: number } } }

/** The runs in flight here: counted at the door, found again to be stopped. */
export type LiveRuns = ReturnType<typeof liveRuns>

export function liveRuns(options: { admission: number }) {
  const runs = new Map<string, LiveRun>()
  const expected = new Set<string>()
  const unsettled = new Map<string, () => Promise<void>>()
  /** Runs in flight of each account, and of each key with those of the keys below it. */
  const busy = new Map<string, number>()
  const notices = runNotices()
  let admitted = 0
  let closed = false
  return {
    /**
     * Takes one of the places for runs in flight, of this process and of each key of the chain,
     * which has as many as the plan says or fewer of its own, divided between the `nodes` there
     * are; the caller gives it back.
     * @throws Refusal `unavailable` when all are taken, `concurrency_limited` when a key's are, or
     * its account's share of them.
     */
    admit({ account, chain, plan }: Admitted, nodes: number): void {
      if (closed) refuse('unavailable', { message: 'The server is stopping. Try again.' })
      if (admitted >= options.admission) {
        refuse('unavailable', {
          message: 'As many runs are in flight as this server takes. Try again in a second.',
          headers: { 'retry-after': '1', 'retry-after-ms': '1000' },
        })
      }
      if (!mayTake(busy.get(account) ?? 0, options.admission - admitted)) {
        refuse('concurrency_limited', crowded)
      }
      for (const { id, concurrency } of chain) {
        const most = Math.min(concurrency ?? plan.limits.concurrency, plan.limits.concurrency)
        if ((busy.get(id) ?? 0) >= Math.ceil(most / nodes)) refuse('concurrency_limited')
      }
      admitted++
      for (const id of [account, ...chain.map((key) => key.id)]) {
        busy.set(id, (busy.get(id) ?? 0) + 1)
      }
    },
    /** Takes note of a run before its row is stored, until it is added or never began. */
    expect: (id: string): void => void expected.add(id),
    unexpect: (id: string): void => void expected.delete(id),
    /** Whether this process answers for a run: it begins it, has it, or still has to end it. */
    isOurs: (id: string): boolean => expected.has(id) || runs.has(id) || unsettled.has(id),
    release(account: string, lineage: readonly string[]): void {
      admitted--
      for (const id of [account, ...lineage]) {
        const left = (busy.get(id) ?? 0) - 1
        if (left > 0) busy.set(id, left)
        else busy.delete(id)
      }
    },
    /** Admits nothing from here on: the server is stopping. */
    close(): void {
      closed = true
    },
    count: (): number => admitted,
    add(run: LiveRun): void {
      runs.set(run.id, run)
      notices.tell(run.row.accountId)
    },
    /** After the COMMIT of its end, if it could be stored. */
    remove(id: string): void {
      const run = runs.get(id)
      if (runs.delete(id) && run) notices.tell(run.row.accountId)
    },
    /** Told when a run begins or ends here. */
    notices,
    find: (id: string): LiveRun | undefined => runs.get(id),
    all: (): LiveRun[] => [...runs.values()],
    /** Remembers a settle that could not be written, to be tried again until it is. */
    settleLater: (id: string, settle: () => Promise<void>): void => void unsettled.set(id, settle),
    /** Tries all of them. @throws what the first that failed again threw. */
    settleAgain: async (): Promise<void> => {
      let fault: unknown
      for (const [id, settle] of unsettled) {
        try {
          await settle()
          unsettled.delete(id)
        } catch (error) {
          fault ??= error
        }
      }
      if (fault) throw fault
    },
  }
}

const crowded =
  'Your account has its share of the runs that this server takes at once. Wait for one to end.'

export function openLiveRun(
  run: Omit<LiveRun, 'signal' | 'stop' | 'stopped' | 'watch' | 'tell'>,
): LiveRun {
  const { signal, stop } = stopSwitch()
  const watchers = new Set<(chunks: JsonObject[] | undefined) => void>()
  const said: JsonObject[] = []
  let reason: StopReason | undefined
  return {
    ...run,
    signal,
    stop(why) {
      if (reason) return
      reason = why
      stop()
    },
    stopped: () => reason,
    watch(watcher) {
      watchers.add(watcher)
      if (said.length > 0) watcher(said)
      return () => void watchers.delete(watcher)
    },
    tell(chunks) {
      if (chunks && run.row.background) said.push(...chunks)
      for (const watcher of watchers) watcher(chunks)
    },
  }
}
