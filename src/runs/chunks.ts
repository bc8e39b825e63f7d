/** Prepares the chunks of a chat stream for the client: roles, and chunks held back to the end. */
import { chunkWith, slot, TextFrames, type TextKind } from '../models/text-frames.ts'
import { type Chunk, isPlain, type JsonObject } from '../models/upstream/upstream.ts'
import { type Answer, Collector, objects } from './answer.ts'

/** The final chunk of a stream whose upstream ended without a finish_reason. */
const unfinished: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }

/**
 * Collects the chunks of a stream, and holds back those that finish a choice, or follow its finish.
 * Each choice keeps its order, and none waits for another to finish.
 */
export class ChunkSorter {
  readonly collected = new Collector()
  /** The chunks held back. They count as delivered when they are added to what was collected. */
  readonly tail: JsonObject[] = []
  private readonly greeted = new Set<unknown>()
  private finished: Set<unknown> | undefined

  /** Takes the reports of a batch that is not delivered any more. */
  noteUsage(batch: readonly Chunk[]): void {
    for (const chunk of batch) if (isPlain(chunk)) this.collected.noteUsage(chunk)
  }

  /** The answer with the chunks that were held back; one that is not ended is now. */
  whole(): Answer {
    if (this.tail.length === 0) this.tail.push(unfinished)
    // Only now: while the run could fail, held-back chunks did not count as delivered.
    for (const chunk of this.tail) this.collected.addHeldBack(chunk)
    return this.collected.answer()
  }

  soFar(): Answer {
    return this.collected.answer()
  }

  /** The chunks of a batch to send now. */
  sort(batch: readonly Chunk[]): Chunk[] {
    const outgoing: Chunk[] = []
    for (const chunk of batch) {
      if (chunk instanceof TextFrames) {
        this.collected.addTexts(chunk)
        outgoing.push(chunk)
        continue
      }
      if (!isPlain(chunk)) continue
      const { ending, going } = this.split(chunk)
      if (ending) this.tail.push(this.addRole(ending))
      if (!going) {
        // What it says waits, what it reports does not.
        this.collected.noteUsage(chunk)
        continue
      }
      this.collected.addChunk(going)
      if (objects(going['choices']).length > 0) outgoing.push(this.addRole(going))
    }
    return outgoing
  }

  private split(chunk: JsonObject): { ending?: JsonObject; going?: JsonObject } {
    const choices = objects(chunk['choices'])
    for (const choice of choices) {
      if (typeof choice['finish_reason'] !== 'string') continue
      this.finished ??= new Set()
      this.finished.add(choice['index'])
    }
    const { finished } = this
    if (!finished) return { going: chunk }
    const ending = choices.filter((choice) => finished.has(choice['index']))
    if (ending.length === 0) return { going: chunk }
    if (ending.length === choices.length) return { ending: chunk }
    const going = choices.filter((choice) => !finished.has(choice['index']))
    return { ending: { ...chunk, choices: ending }, going: { ...chunk, choices: going } }
  }

  /** Adds the role to each choice's first delta: OpenAI's SDK needs it, some upstreams omit it. */
  private addRole(chunk: JsonObject): JsonObject {
    const { greeted } = this
    const choices = objects(chunk['choices'])
    if (choices.every((choice) => greeted.has(choice['index']))) return chunk
    const named = choices.map((choice) => {
      if (greeted.has(choice['index'])) return choice
      greeted.add(choice['index'])
      return { ...choice, delta: { role: 'assistant', ...(choice['delta'] as JsonObject) } }
    })
    return { ...chunk, choices: named }
  }
}

/**
 * Writes chunks by `write`, each as a frame of its own. Of those that differ only in their text one
 * is written, and the others around their texts.
 */
export function frameWriter(
  write: (chunk: JsonObject) => string,
): (chunks: readonly Chunk[]) => string {
  let last: { kind: TextKind; around: string[] } | undefined
  return (chunks) => {
    let frames = ''
    for (const chunk of chunks) {
      if (!(chunk instanceof TextFrames)) {
        if (isPlain(chunk)) frames += write(chunk)
        continue
      }
      const { kind, texts } = chunk
      if (last?.kind !== kind) last = { kind, around: write(chunkWith(kind, slot)).split(slot) }
      const [before, after, ...more] = last.around
      const isSplit = before !== undefined && after !== undefined && more.length === 0
      if (isSplit) frames += before + texts.join(after + before) + after
      else for (const one of chunk.chunks()) frames += write(one)
    }
    return frames
  }
}
