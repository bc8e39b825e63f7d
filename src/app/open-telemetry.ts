/** Opens the export of traces, if the configuration names a collector; loads nothing otherwise. */
import type { Config } from '../config/config.ts'
import { parseObject } from '../kernel/json-object.ts'
import type { StopSignal } from '../kernel/stop.ts'
import { type HttpLimits, request } from '../models/upstream/http.ts'
import type { Deps } from './deps-port.ts'
import type { ExportResponse } from './telemetry/exporter.ts'
import type { Span } from './telemetry/spans.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import { version } from './version.ts'

type Needs = Pick<Deps, 'clock' | 'random' | 'log'> & { node: string }

const limits: HttpLimits = {
  firstByteMs: 10_000,
  idleMs: 5000,
  totalMs: 15_000,
  answerBytes: 65_536,
  streamBytes: 65_536,
}

export async function openTelemetry(
  { telemetry }: Pick<Config, 'telemetry'>,
  { clock, random, log, node }: Needs,
): Promise<Telemetry | undefined> {
  const { endpoint, headers, sample } = telemetry
  if (endpoint === undefined) return undefined
  const { makeTelemetry } = await import('./telemetry/telemetry.ts')
  const send = await senderTo(endpoint, headers, node)
  return makeTelemetry({ clock, random, log, sample, send })
}

/** Sends spans as one request. @throws when there is no answer */
export async function senderTo(
  endpoint: string,
  headers: Readonly<Record<string, string>> = {},
  node = '',
): Promise<(spans: readonly Span[], signal: StopSignal) => Promise<ExportResponse>> {
  const { writeTraces } = await import('./telemetry/otlp.ts')
  const url = `${endpoint}/v1/traces`
  const own = { 'content-type': 'application/json', 'user-agent': 'counterfoil', ...headers }
  return async (spans, signal) => {
    const body = writeTraces({ version, node }, spans)
    const answer = await request({ url, headers: own, body, signal, limits })
    const { status } = answer
    const retryAfterMs = 1000 * Number(answer.headers.get('retry-after') ?? 0) || undefined
    if (status < 200 || status > 299) {
      answer.stop()
      return { status, retryAfterMs }
    }
    // The body of a collector's answer is optional.
    const text = await answer.text().catch(() => '')
    return { status, rejected: rejectedIn(text, spans.length) }
  }
}

/** How many spans a collector took the rest of did not take. */
function rejectedIn(text: string, most: number): number {
  const partial = parseObject(text)?.['partialSuccess']
  if (typeof partial !== 'object' || partial === null || Array.isArray(partial)) return 0
  const count = Number(partial['rejectedSpans'])
  return Number.isInteger(count) ? Math.min(Math.max(0, count), most) : 0
}
