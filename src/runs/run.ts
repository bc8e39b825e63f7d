/** The states and outcomes of a run: one request to a model, with a hold until it is settled. */
import type { RefusalType } from '../kernel/refusal.ts'
import type { RunRow } from '../storage/db/schema/schema.ts'

/** `running → succeeded | failed | cancelled | interrupted`; a background run starts `queued`. */
export type RunStatus = RunRow['status']
export const runStatuses = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
] as const satisfies readonly RunStatus[]

/** Narrows a list of runs. */
export type RunFilter = { status?: RunStatus | undefined; model?: string | undefined }

export type Outcome = NonNullable<RunRow['outcome']>

/** Why a run did not complete, in the words of the error table. */
export type RunError = { type: RefusalType; message: string }
