/** An event of a stream that is handed on as it came. */
import type { JsonObject } from '../kernel/json-object.ts'

/** An event whose protocol is the same on both sides: its bytes pass. */
export class NativeEvent {
  constructor(
    /** Its data, parsed; do not mutate. */
    readonly data: JsonObject,
    /** The same as it was written, on one line. */
    private readonly text: string,
    /** What it says in the shape of Chat Completions, for who watches the run. */
    readonly chunk: JsonObject | undefined,
  ) {}

  /** Its frame. The name of an event is the `type` in its data. */
  get frame(): string {
    const { type } = this.data
    return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${this.text}\n\n`
  }
}
