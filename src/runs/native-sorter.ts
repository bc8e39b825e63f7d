/** Prepares the events of a stream that is handed on as it came. */
import { NativeEvent } from '../models/native-event.ts'
import type { GatheredAnswer } from '../models/protocols/gathered-answer.ts'
import { isFinishing, type Native, nativeCollector } from '../models/protocols/native.ts'
import type { Chunk } from '../models/upstream/upstream.ts'
import { wellFormed } from './partial-choice.ts'

/** Collects the events of a stream, and holds back those that end its answer. */
export class NativeSorter {
  /** The events held back. */
  readonly tail: NativeEvent[] = []
  /** Whether the event that ends the answer came. */
  hasEnded = false
  private hasLeft = false
  private readonly collected

  constructor(private readonly protocol: Native['protocol']) {
    this.collected = nativeCollector(protocol)
  }

  /** The events of a batch to send now. */
  sort(batch: readonly Chunk[]): Chunk[] {
    const outgoing: Chunk[] = []
    for (const event of batch) {
      if (!(event instanceof NativeEvent)) continue
      if (this.tail.length > 0 || isFinishing(this.protocol, event.data)) {
        this.hasEnded = true
        this.tail.push(event)
        this.collected.noteUsage(event.data)
      } else {
        this.collected.add(event.data)
        outgoing.push(event)
      }
    }
    return outgoing
  }

  /** Takes the reports of a batch that is not delivered any more. */
  noteUsage(batch: readonly Chunk[]): void {
    for (const event of batch) {
      if (event instanceof NativeEvent) this.collected.noteUsage(event.data)
    }
  }

  /** Counts a batch that is not delivered, and what was held back with it. */
  drop(batch: readonly Chunk[]): void {
    if (!this.hasLeft) this.collected.leave()
    this.hasLeft = true
    for (const event of [...this.tail.splice(0), ...batch]) {
      if (!(event instanceof NativeEvent)) continue
      this.hasEnded ||= isFinishing(this.protocol, event.data)
      this.collected.drop(event.data)
    }
  }

  /** The answer with the events that were held back. */
  whole(): GatheredAnswer {
    for (const { data } of this.tail) this.collected.add(data)
    return this.soFar()
  }

  soFar(): GatheredAnswer {
    return sound(this.collected.answer())
  }
}

/** An answer in a form that a receipt can commit to: what model servers write may have none. */
export const sound = (gathered: GatheredAnswer): GatheredAnswer => ({
  ...gathered,
  choices: wellFormed(gathered.choices),
})
