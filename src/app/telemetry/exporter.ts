/**
 * Sends ended spans to a collector: in batches, one request at a time, from a queue of limited
 * length. Spans that cannot be sent are counted and dropped.
 */
import { type Deadline, deadlineIn } from '../../kernel/deadline.ts'
import type { Family } from '../../kernel/exposition.ts'
import { gauge } from '../../kernel/exposition.ts'
import type { Log } from '../../kernel/log.ts'
import { type StopSignal, StopSwitch } from '../../kernel/stop.ts'
import { within } from '../../kernel/within.ts'
import { counter } from '../metrics/instrument.ts'
import type { Span } from './spans.ts'

/** The answer of a collector. `rejected` counts spans of the request that it did not accept. */
export type ExportResponse = {
  status: number
  rejected?: number
  retryAfterMs?: number | undefined
}

export type Exporter = {
  /** Queues all of them, or none when the queue has no room. */
  add(spans: Span[]): void
  /** Sends queued spans for at most `ms`, then drops the rest and accepts no more. */
  stop(ms: number): Promise<void>
  families(): Family[]
}

type Options = {
  /** @throws when there is no answer */
  send(spans: readonly Span[], signal: StopSignal): Promise<ExportResponse>
  log: Pick<Log, 'info' | 'warn'>
  /** Queued spans, without those of the request in flight. */
  most?: number
  /** Pauses before the second and third attempts, in ms. */
  pausesMs?: readonly number[]
  /** How long spans are collected for a batch that is not full, in ms. */
  collectMs?: number
}

/** Spans of one request: encoding them takes the event loop a millisecond. */
const batchLength = 256
/** The longest pause that a collector may ask for, in ms. */
const longestPauseMs = 30_000
/** Status codes after which OTLP allows a retry. */
const passing = new Set([429, 502, 503, 504])

const reasons = ['queue_full', 'refused', 'unsent', 'stopped'] as const
type Reason = (typeof reasons)[number]

export function openExporter(options: Options): Exporter {
  const { send, log, most = 2048, pausesMs = [1000, 4000], collectMs = 250 } = options
  const sent = counter('counterfoil_telemetry_spans_sent_total', 'Spans a collector took.', [])
  const dropped = counter(
    'counterfoil_telemetry_spans_dropped_total',
    'Spans that were not sent, by the reason.',
    ['reason'],
  )
  sent.add({}, 0)
  for (const reason of reasons) dropped.add({ reason }, 0)
  const queue: Span[] = []
  const ending = new StopSwitch()
  let isStopping = false
  let isFailing = false
  let working: Promise<void> | undefined
  let soon: Deadline | undefined
  /** Ends the pause before another try. */
  let wake: (() => void) | undefined

  const drop = (reason: Reason, count: number) => {
    if (count > 0) dropped.add({ reason }, count)
  }

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const over = deadlineIn(ms, resolve)
      wake = () => {
        over.clear()
        resolve()
      }
    })

  /** Returns whether the collector accepted them, how many it rejected, and when to retry. */
  const tryOnce = async (batch: readonly Span[]): Promise<ExportAttempt> => {
    const answer = await send(batch, ending).catch(() => undefined)
    const { status = 0, rejected = 0, retryAfterMs } = answer ?? {}
    if (status >= 200 && status < 300) {
      sent.add({}, batch.length - rejected)
      drop('refused', rejected)
      return { how: 'taken' }
    }
    if (!isFailing && !ending.aborted) log.warn('telemetry.failed', { status: answer?.status })
    isFailing = true
    const mayPass = answer === undefined || passing.has(status)
    return mayPass ? { how: 'later', retryAfterMs } : { how: 'refused' }
  }

  const sendBatch = async (batch: readonly Span[]): Promise<void> => {
    for (const pauseMs of [...pausesMs, undefined]) {
      const { how, retryAfterMs = 0 } = await tryOnce(batch)
      if (how === 'refused') return drop('refused', batch.length)
      if (how === 'taken') {
        if (isFailing) log.info('telemetry.recovered')
        isFailing = false
        return
      }
      if (isStopping || pauseMs === undefined) break
      await pause(Math.max(pauseMs, Math.min(retryAfterMs, longestPauseMs)))
    }
    drop(ending.aborted ? 'stopped' : 'unsent', batch.length)
  }

  const work = async (): Promise<void> => {
    while (queue.length > 0 && !ending.aborted) await sendBatch(queue.splice(0, batchLength))
  }

  const start = (): Promise<void> => {
    soon?.clear()
    soon = undefined
    working ??= work().finally(() => {
      working = undefined
      // Spans that were queued after the last look.
      if (queue.length > 0 && !isStopping) void start()
    })
    return working
  }

  return {
    add(spans) {
      if (isStopping) return drop('stopped', spans.length)
      if (queue.length + spans.length > most) return drop('queue_full', spans.length)
      queue.push(...spans)
      if (working) return
      if (queue.length >= batchLength) void start()
      else soon ??= deadlineIn(collectMs, () => void start())
    },
    async stop(ms) {
      isStopping = true
      wake?.()
      const drained = async () => {
        await working
        await start()
        return true
      }
      if (await within(ms, drained())) return
      drop('stopped', queue.length)
      queue.length = 0
      ending.stop()
      // Aborts the request in flight, which then counts its spans as dropped.
      await working
    },
    families: () => [
      sent.family(),
      dropped.family(),
      gauge('counterfoil_telemetry_spans_waiting', 'Spans waiting to be sent.', queue.length),
    ],
  }
}

type ExportAttempt = { how: 'taken' | 'refused' | 'later'; retryAfterMs?: number | undefined }
