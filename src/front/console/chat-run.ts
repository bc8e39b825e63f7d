/** Runs a chat for the console and the terminal, and adds the charge to refusals. */
import type { Deps } from '../../app/deps-port.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { toJsonInteger } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import type { Model } from '../../models/model.ts'
import { type Chunk, plainChunks } from '../../models/upstream/upstream.ts'
import type { ReplyKeeper } from '../../runs/ending.ts'
import type { LiveRun } from '../../runs/live-run.ts'
import { type Sink, type StreamedAnswer, stream } from '../../runs/stream.ts'
import type { RunRow } from '../../storage/db/schema/schema.ts'

/** Enabled chat models, in catalogue order. */
export const chatModels = ({ catalogue }: Pick<Deps, 'catalogue'>): Model[] =>
  catalogue.list().filter(({ kind, status }) => kind === 'chat' && status !== 'disabled')

/**
 * Executes a run that `begin` started.
 * @throws Refusal with `outcome`, `cost_nusd`, `input_tokens` and `output_tokens` in its metadata
 * where known
 */
export async function runChat(
  deps: Deps,
  live: LiveRun,
  sink: Sink,
  keep?: ReplyKeeper<StreamedAnswer>,
): Promise<StreamedAnswer> {
  try {
    return await stream(deps, live, sink, keep)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const run = await deps.runs.find(live.id)
    if (run && run.finishedAt !== null) {
      withCharge(error, run)
    }
    throw error
  }
}

/** Adds the charge of an interrupted run to its refusal. */
export function withCharge(refusal: Refusal, run: RunRow): Refusal {
  refusal.detail.metadata = { ...refusal.detail.metadata, ...chargeOf(run) }
  return refusal
}

const chargeOf = (run: RunRow) => ({
  outcome: run.outcome,
  cost_nusd: toJsonInteger(run.cost),
  input_tokens: inputUnitsOf(run.lines),
  output_tokens: outputUnitsOf(run.lines),
})

/** The text that chunks add to the first choice. */
export function textOf(chunks: readonly Chunk[]): string {
  let text = ''
  for (const { content } of deltasOf(chunks)) if (typeof content === 'string') text += content
  return text
}

/** The deltas of the first choice in chunks. */
export const deltasOf = (chunks: readonly Chunk[]): JsonObject[] =>
  plainChunks(chunks).flatMap(({ choices }) =>
    (Array.isArray(choices) ? choices : []).flatMap((choice) => {
      if (!isObject(choice) || (choice['index'] ?? 0) !== 0) return []
      return isObject(choice['delta']) ? [choice['delta']] : []
    }),
  )
