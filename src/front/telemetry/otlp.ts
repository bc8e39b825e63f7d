/**
 * Writes spans as OTLP/HTTP has them in JSON. The official packages were measured for this. At a
 * sample of 1 % they cost a run 2.2 µs, about 1 % of it, and this 0.5; they cost a start 9 ms of
 * CPU and 7 MB, and this 1.5 and 2. They do not tell how many spans they dropped, and they send
 * over connections of their own: queue and exporter would be ours all the same, and what is left
 * of them is this file.
 */
import type { Span } from './spans.ts'

/** What the spans are of: the service, its version and this process. */
export type Resource = { version: string; node: string }

type Value = Span['attributes'][number][1]

/** The body of `POST /v1/traces`. */
export const writeTraces = ({ version, node }: Resource, spans: readonly Span[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: [
            attribute(['service.name', 'counterfoil']),
            attribute(['service.version', version]),
            attribute(['service.instance.id', node]),
          ],
        },
        scopeSpans: [{ scope: { name: 'counterfoil', version }, spans: spans.map(toSpan) }],
      },
    ],
  })

const kinds: Record<Span['kind'], number> = { server: 2, client: 3 }

/** Of `flags`: sampled; whether the next is known; whether the parent is another process's. */
const flags = { sampled: 0x1, isKnown: 0x100, isRemote: 0x200 }

const toSpan = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
  ...(span.state === undefined ? {} : { traceState: span.state }),
  flags: flags.sampled | flags.isKnown | (span.isRemote ? flags.isRemote : 0),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: toNanos(span.startedAt),
  endTimeUnixNano: toNanos(span.endedAt),
  attributes: span.attributes.map(attribute),
  ...(span.isError ? { status: { code: 2 } } : {}),
})

const attribute = ([key, value]: readonly [string, Value]): object => ({ key, value: toAny(value) })

/** JSON has whole numbers of 64 bits as texts. */
function toAny(value: Value): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'bigint') return { intValue: String(value) }
  if (typeof value === 'boolean') return { boolValue: value }
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } }
}

/** Microseconds are as fine as a double has milliseconds of today. */
const toNanos = (ms: number): string => `${Math.round(ms * 1000)}000`
