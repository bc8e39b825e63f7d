/** Numbers the events of a streamed response. */
import type { JsonObject } from '../../../kernel/json-object.ts'
import type { RepairedEvent } from '../repaired.ts'

export class EventNumbers {
  private last = -1
  /** Whether an event was added or left out, so that the numbers of the server do not fit. */
  private isShifted = false

  /** Takes the number of an event that passes; false where it needs another one. */
  passes({ sequence_number: number }: JsonObject): boolean {
    if (this.isShifted || typeof number !== 'number') return false
    this.last = number
    return true
  }

  /** The events that take the place of one, numbered. */
  write(events: readonly RepairedEvent[]): RepairedEvent[] {
    if (events.length !== 1) this.isShifted = true
    return events.map(({ event }) => {
      const { type = '', sequence_number: given, ...fields } = event
      this.last = !this.isShifted && typeof given === 'number' ? given : this.last + 1
      return { event: { type, sequence_number: this.last, ...fields } }
    })
  }
}
