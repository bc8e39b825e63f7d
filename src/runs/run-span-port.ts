/** The span of a run, which records its progress. */
import type { Json } from '../kernel/canonical.ts'
import type { Trace } from '../kernel/trace.ts'
import type { Usage } from '../models/meter.ts'
import type { RouteStep } from '../models/model.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'

/** The span of a run that is recorded; one that is not sampled has none. */
export type RunSpan = {
  readonly traceId: string
  /** A server of the route is asked from here on. Returns what its request belongs to. */
  ask(step: RouteStep): Trace
  /** The server that is asked failed; one whose circuit is open was not asked. */
  failed(error: unknown): void
  /** The run ended. `used` is undefined where nothing was charged for its usage. */
  end(run: RunRow, used?: { usage: Usage | undefined; output: Json | null }): void
}
