/** Writes chunks as the events of another protocol than Chat Completions. */
import { NativeEvent } from '../../models/native-event.ts'
import { chunkWith, TextFrames } from '../../models/text-frames.ts'
import type { Chunk, JsonObject } from '../../models/upstream/upstream.ts'

/**
 * Native events pass as they came, under the public name of the model; texts that came together are
 * one event.
 */
export const eventWriter =
  (write: (chunk: JsonObject) => string, model: string) =>
  (chunks: readonly Chunk[]): string => {
    let frames = ''
    for (const chunk of chunks) {
      if (chunk instanceof NativeEvent) frames += chunk.frameFor(model)
      else if (chunk instanceof TextFrames)
        frames += write(chunkWith(chunk.kind, chunk.texts.join('')))
      else frames += write(chunk)
    }
    return frames
  }

/** Writes something one time, and gives the same when it is asked for again. */
export function once<Asked, Written = string>(
  write: (asked: Asked) => Written,
): (asked: Asked) => Written {
  let written: Written | undefined
  return (asked) => {
    written ??= write(asked)
    return written
  }
}
