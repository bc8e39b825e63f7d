/** Prepares the chunks of a chat stream for the client: holds back those that end it. */
import { chunkWith, slot, TextFrames, type TextKind } from '../models/text-frames.ts'
import { type Chunk, isPlain, type JsonObject } from '../models/upstream/upstream.ts'
import { type Answer, Collector, objects } from './answer.ts'

/**
 * Collects the chunks of a stream, and holds back those that finish a choice, or follow its finish.
 * Each choice keeps its order, and none waits for another to finish.
 */
export class ChunkSorter {
  readonly collected = new Collector()
  /** The chunks held back. They count as delivered when they are added to what was collected. */
  readonly tail: JsonObject[] = []
  private finished: Set<unknown> | undefined

  /** Whether a choice has finished. */
  get hasEnded(): boolean {
    return this.finished !== undefined
  }

  /** Takes the reports of a batch that is not delivered any more. */
  noteUsage(batch: readonly Chunk[]): void {
    for (const chunk of batch) if (isPlain(chunk)) this.collected.noteUsage(chunk)
  }

  /** Counts a batch that is not delivered, and what was held back with it. */
  drop(batch: readonly Chunk[]): void {
    for (const chunk of [...this.tail.splice(0), ...batch]) {
      if (chunk instanceof TextFrames) this.collected.dropTexts(chunk)
      else if (isPlain(chunk)) {
        this.split(chunk)
        this.collected.drop(chunk)
      }
    }
  }

  /** The answer with the chunks that were held back. */
  whole(): Answer {
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
      if (ending) this.tail.push(ending)
      if (!going) {
        // Its output waits, its report does not.
        this.collected.noteUsage(chunk)
        continue
      }
      this.collected.addChunk(going)
      if (objects(going['choices']).length > 0) outgoing.push(going)
    }
    return outgoing
  }

  private split(chunk: JsonObject): { ending?: JsonObject; going?: JsonObject } {
    const choices = objects(chunk['choices'])
    for (const choice of choices) {
      const { finish_reason: reason } = choice
      // The failure of a server ends nothing: it is told at once.
      if (typeof reason !== 'string' || reason === 'error') continue
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
