/** A run of this process between its hold and its settlement, and the switch that stops it. */
import type { Json } from '../kernel/canonical.ts'
import { type StopSignal, StopSwitch } from '../kernel/stop.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Bound } from '../models/bound.ts'
import type { Model } from '../models/model.ts'
import { type Chunk, type JsonObject, plainChunks } from '../models/upstream/upstream.ts'
import type { RunRow } from '../storage/db/schema.ts'

/** Why a run was stopped before its upstream was done. */
export type StopReason =
  | 'client_gone'
  | 'cancelled'
  | 'key_revoked'
  | 'account_suspended'
  | 'session_ended'
  | 'shutdown'

export type LiveRun = {
  id: string
  row: RunRow
  model: Model
  bound: Bound
  /** The request in OpenAI's shape. */
  body: JsonObject
  /** The request as received; undefined unless the account keeps its texts. */
  received: Json | undefined
  /** The scope of the request's Idempotency-Key, if it had one. */
  call: string | undefined
  trace: Trace | undefined
  /** The browser session that started the run and ends it; undefined for a run of a key. */
  session: string | undefined
  /** From {@link Clock.monotonic}. */
  startedAt: number
  /** The request of a client that waits for the whole answer. Its signal may have no listener. */
  client?: { readonly signal: { readonly aborted: boolean } } | undefined
  signal: StopSignal
  /** Stops the upstream; output delivered so far is charged. Only the first reason counts. */
  stop(reason: StopReason): void
  stopped(): StopReason | undefined
  /**
   * Calls `watcher` with each batch of chunks as it is sent, and once with undefined at the end. A
   * background run replays its earlier chunks first. Returns a function that stops watching.
   */
  watch(watcher: (chunks: JsonObject[] | undefined) => void): () => void
  tell(chunks: readonly Chunk[] | undefined): void
}

/** The fields that identify a run in the server log: its id, and its caller's trace if any. */
export const namesOf = ({ id, trace }: Pick<LiveRun, 'id' | 'trace'>) => ({
  run_id: id,
  ...(trace ? { trace_id: trace.id } : {}),
})

export function openLiveRun(
  run: Omit<LiveRun, 'signal' | 'stop' | 'stopped' | 'watch' | 'tell'>,
): LiveRun {
  const signal = new StopSwitch()
  const watchers = new Set<(chunks: JsonObject[] | undefined) => void>()
  const said: JsonObject[] = []
  let reason: StopReason | undefined
  const live: LiveRun = {
    ...run,
    signal,
    stop(why) {
      if (reason) return
      reason = why
      signal.stop()
    },
    stopped() {
      if (live.client?.signal.aborted) live.stop('client_gone')
      return reason
    },
    watch(watcher) {
      watchers.add(watcher)
      if (said.length > 0) watcher(said)
      return () => void watchers.delete(watcher)
    },
    tell(chunks) {
      const isKept = chunks !== undefined && run.row.background
      if (!isKept && watchers.size === 0) return
      const plain = chunks && plainChunks(chunks)
      if (isKept && plain) said.push(...plain)
      for (const watcher of watchers) watcher(plain)
    },
  }
  return live
}
