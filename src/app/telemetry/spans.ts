/** Records a span for each sampled run, and a child span for each request to an upstream. */
import type { Json } from '../../kernel/canonical.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Random } from '../../kernel/random.ts'
import type { Trace } from '../../kernel/trace.ts'
import type { Usage } from '../../models/meter.ts'
import type { RouteStep } from '../../models/model.ts'
import { UpstreamFailure } from '../../models/upstream/upstream.ts'
import type { RunSpan } from '../../runs/run-span-port.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'
import { type Attributes, attemptAttributes, operationOf, runAttributes } from './attributes.ts'

/** An ended span, as it is exported. It keeps no part of its run in memory. */
export type Span = {
  traceId: string
  spanId: string
  parentId: string | undefined
  state: string | undefined
  /** Whether its parent is a span of the caller. */
  isRemote: boolean
  /** `server` for a request we serve, `client` for one we make. */
  kind: 'server' | 'client'
  name: string
  /** Milliseconds since the Unix epoch, with a fraction. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  isError: boolean
}

type Needs = {
  clock: Pick<Clock, 'now' | 'monotonic'>
  random: Random
  /** The share of runs to record when the caller does not decide, from 0 to 1. */
  sample: number
  /** Takes the spans of a run that ended. */
  take(spans: Span[]): void
}

/**
 * Parent-based sampling: the sampled flag of the caller's `traceparent` decides; without one, the
 * id of a new trace does. Returns undefined for a run that is not recorded.
 */
export function startSpan(needs: Needs, trace: Trace | undefined): RunSpan | undefined {
  if (trace) {
    const { id, parent, state } = trace
    const [, , parentId, flags = ''] = parent.split('-')
    const isSampled = (Number.parseInt(flags, 16) & 1) === 1
    return isSampled ? new RecordedRun(needs, { id, parentId, state }) : undefined
  }
  if (needs.sample === 0) return undefined
  const bytes = Buffer.from(needs.random.bytes(16))
  // The last seven bytes are random by W3C Trace Context, level 2; six are a safe integer.
  const isSampled = bytes.readUIntBE(10, 6) < needs.sample * 2 ** 48
  return isSampled ? new RecordedRun(needs, { id: bytes.toString('hex') }) : undefined
}

type Place = { id: string; parentId?: string | undefined; state?: string | undefined }

type Attempt = {
  spanId: string
  step: RouteStep
  startedAt: number
  endedAt: number | undefined
  failure: UpstreamFailure | undefined
  /** An error of ours, not of the upstream. */
  isFault: boolean
}

class RecordedRun implements RunSpan {
  private readonly spanId: string
  private readonly startedAt: number
  private readonly since: number
  private readonly attempts: Attempt[] = []

  constructor(
    private readonly needs: Needs,
    private readonly place: Place,
  ) {
    this.spanId = this.newId()
    this.startedAt = needs.clock.now()
    this.since = needs.clock.monotonic()
  }

  get traceId(): string {
    return this.place.id
  }

  ask(step: RouteStep): Trace {
    const { id, state } = this.place
    const spanId = this.newId()
    const startedAt = this.now()
    const open = { endedAt: undefined, failure: undefined, isFault: false }
    this.attempts.push({ spanId, step, startedAt, ...open })
    return { id, parent: `00-${id}-${spanId}-01`, ...(state === undefined ? {} : { state }) }
  }

  failed(error: unknown): void {
    const attempt = this.attempts.at(-1)
    if (!attempt || attempt.endedAt !== undefined) return
    if (!(error instanceof UpstreamFailure)) attempt.isFault = true
    else if (error.reason === 'open') this.attempts.pop()
    else attempt.failure = error
    attempt.endedAt = this.now()
  }

  end(run: RunRow, used?: { usage: Usage | undefined; output: Json | null }): void {
    const endedAt = this.now()
    const { id, parentId, state } = this.place
    const shared = { traceId: id, state }
    const { kind, outcome } = run
    const operation = operationOf(kind)
    const below = this.attempts.map((attempt): Span => {
      const { spanId, step, failure, isFault } = attempt
      return {
        ...shared,
        spanId,
        parentId: this.spanId,
        isRemote: false,
        kind: 'client',
        name: `${operation} ${step.model}`,
        startedAt: attempt.startedAt,
        endedAt: attempt.endedAt ?? endedAt,
        attributes: attemptAttributes(operation, step, failure, isFault),
        // A stop on our side is not a failure of the upstream.
        isError: isFault || (failure !== undefined && failure.reason !== 'aborted'),
      }
    })
    const whole: Span = {
      ...shared,
      spanId: this.spanId,
      parentId,
      isRemote: parentId !== undefined,
      kind: 'server',
      name: `${operation} ${run.model}`,
      startedAt: this.startedAt,
      endedAt,
      attributes: runAttributes(operation, run, used),
      isError: outcome !== 'complete' && outcome !== 'cancelled',
    }
    this.needs.take([whole, ...below])
  }

  private now(): number {
    return this.startedAt + this.needs.clock.monotonic() - this.since
  }

  private newId(): string {
    return Buffer.from(this.needs.random.bytes(8)).toString('hex')
  }
}
