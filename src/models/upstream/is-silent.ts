/** Tells chunks that say nothing yet: a role, the start of a message. */
import { isObject, objectOf } from '../../kernel/json-object.ts'
import { isEmpty } from '../free-members.ts'
import { NativeEvent } from '../native-event.ts'
import { objectsIn } from '../protocols/reading.ts'
import { TextFrames } from '../text-frames.ts'
import type { Chunk } from './upstream.ts'

const openings = new Set<unknown>([
  'message_start',
  'ping',
  'response.created',
  'response.in_progress',
])

export function isSilent(chunk: Chunk): boolean {
  if (chunk instanceof TextFrames) return false
  if (chunk instanceof NativeEvent) return openings.has(chunk.data['type'])
  return objectsIn(chunk['choices']).every(({ delta }) => {
    const { role: _, ...said } = isObject(delta) ? delta : objectOf(null)
    return Object.values(said).every(isEmpty)
  })
}
