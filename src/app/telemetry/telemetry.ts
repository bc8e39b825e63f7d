/** Records runs that are sampled and exports their spans. */

import type { Family } from '../../kernel/exposition.ts'
import type { Trace } from '../../kernel/trace.ts'
import type { RunSpan } from '../../runs/run-span-port.ts'
import { openExporter } from './exporter.ts'
import { startSpan } from './spans.ts'

export type Telemetry = {
  /** Starts the span of a run; undefined unless it is sampled. */
  start(trace: Trace | undefined): RunSpan | undefined
  /** Sends queued spans for at most `ms`. */
  stop(ms: number): Promise<void>
  families(): Family[]
}

type Needs = Omit<Parameters<typeof startSpan>[0], 'take'> & Parameters<typeof openExporter>[0]

export function makeTelemetry({ clock, random, sample, ...options }: Needs): Telemetry {
  const { add: take, stop, families } = openExporter(options)
  const needs = { clock, random, sample, take }
  return { start: (trace) => startSpan(needs, trace), stop, families }
}
