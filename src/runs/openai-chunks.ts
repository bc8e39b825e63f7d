/** Writes the frames of a stream in OpenAI's shape. */
import { toUnixSeconds } from '../kernel/clock.ts'
import type { JsonObject } from '../models/upstream/upstream.ts'
import { objects } from './answer.ts'
import type { LiveRun } from './live-run.ts'
import { fingerprintOf, type Links, tierOf, toReceiptLink } from './openai.ts'
import { toChatUsage } from './openai-usage.ts'
import type { StreamedAnswer } from './stream.ts'

/** Writes the SSE frame of a chunk; `base` holds the members all chunks of a run share. */
export function chunkWriter(base: ChunkBase): (chunk: JsonObject) => string {
  // Serialized once: only the choices differ.
  const head = `data: ${JSON.stringify(base).slice(0, -1)}`
  return (chunk) => {
    const { system_fingerprint: mark } = fingerprintOf(chunk)
    const fingerprint = mark === undefined ? '' : `,"system_fingerprint":${JSON.stringify(mark)}`
    return `${head}${fingerprint},"choices":${JSON.stringify(objects(chunk['choices']))}}\n\n`
  }
}

export type ChunkBase = { id: string; object: string; created: number; model: string }

export const chunkBase = (live: LiveRun): ChunkBase => ({
  id: live.id,
  object: 'chat.completion.chunk',
  created: toUnixSeconds(live.row.createdAt),
  model: live.model.id,
})

/**
 * The frames that end a stream. Usage and receipt are in the last chunk that SDKs keep: the usage
 * chunk if requested, else the finishing chunk, because clients break on one without choices that
 * they did not ask for. `more` is added beside them.
 */
export function lastFrames(
  base: ChunkBase,
  done: StreamedAnswer,
  links: Links,
  { includeUsage, more }: { includeUsage: boolean; more: object },
): string {
  const paid = {
    usage: toChatUsage(done.usage, done),
    ...tierOf(done.tier),
    ...more,
    receipt: toReceiptLink(done, links),
  }
  const chunks = done.tail.map((chunk) => toChunk(base, chunk))
  if (includeUsage) chunks.push({ ...base, choices: [], ...paid })
  else Object.assign(chunks.at(-1) ?? {}, paid)
  return chunks.map(frame).join('') + doneFrame
}

export const doneFrame = 'data: [DONE]\n\n'

/** Whether a chunk says that its server could not go on. */
export const failsIn = ({ choices }: JsonObject): boolean =>
  objects(choices).some(({ finish_reason: reason }) => reason === 'error')

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`

const toChunk = (base: ChunkBase, chunk: JsonObject): Record<string, unknown> => ({
  ...base,
  ...fingerprintOf(chunk),
  choices: objects(chunk['choices']),
})
