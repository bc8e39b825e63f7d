/** An event of a stream that is handed on as it came. */
import { isObject, type JsonObject, objectOf } from '../kernel/json-object.ts'

/** An event whose protocol is the same on both sides: its bytes pass. */
export class NativeEvent {
  constructor(
    /** Its data, parsed; do not mutate. */
    readonly data: JsonObject,
    /** The event as it was written. */
    private readonly text: string,
    /** The event in the shape of Chat Completions, for those who watch the run. */
    readonly chunk: JsonObject | undefined,
  ) {}

  /** Its frame. The name of an event is the `type` in its data, where that is one. */
  get frame(): string {
    return frameOf(this.data, this.text)
  }

  /** Its frame with this name of the model in the place of the server's. */
  frameFor(model: string): string {
    const { data, text } = this
    const place = data['response'] === undefined ? 'message' : 'response'
    const holder = data[place]
    const own = isObject(holder) ? holder['model'] : undefined
    if (typeof own !== 'string' || own === model) return frameOf(data, text)
    const named = text.replaceAll(memberOf(own), () => memberOf(model))
    if (named !== text) return frameOf(data, named)
    return frameOf(data, JSON.stringify({ ...data, [place]: { ...objectOf(holder), model } }))
  }
}

/** A whole answer with this name of the model in the place of the server's. */
export const withModel = (answer: JsonObject, model: string): JsonObject =>
  typeof answer['model'] === 'string' ? { ...answer, model } : answer

const memberOf = (model: string): string => `"model":${JSON.stringify(model)}`

const nameOfEvent = /^[a-z][\w.]*$/

function frameOf(data: JsonObject, text: string): string {
  const { type } = data
  const isNamed = typeof type === 'string' && nameOfEvent.test(type)
  // Data on several lines is JSON all the same.
  const line = text.includes('\n') ? JSON.stringify(data) : text
  return `${isNamed ? `event: ${type}\n` : ''}data: ${line}\n\n`
}
