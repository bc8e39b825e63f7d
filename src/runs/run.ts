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

/** A tag by its name, or by its name and value. */
export type TagFilter = { name: string; value?: string | undefined }

/** `team:search` or `team`; a name holds no colon. */
export function readTag(text: string): TagFilter {
  const at = text.indexOf(':')
  return at === -1 ? { name: text } : { name: text.slice(0, at), value: text.slice(at + 1) }
}

export type Outcome = NonNullable<RunRow['outcome']>

/** Why a run did not complete, in the words of the error table. */
export type RunError = { type: RefusalType; message: string }
