/** Recognises the frames of a stream that differ from an earlier one only in their text. */
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { isEmpty } from '../free-members.ts'
import { slot, TextFrames, type TextKind } from '../text-frames.ts'

/** Any JSON text up to this length is modest, so that none of these has to be measured. */
const longestFrame = 16 * 1024

/** Kinds learned in a row without a single frame of them, after which a stream has none. */
const mostFutile = 8

const member = '"content":'
/** The characters that end a string of JSON, or may not stand in one as they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them
const notPlain = /["\\\u0000-\u001f]/

/**
 * Learns from each frame that is parsed what stands around its text, byte for byte. Frames with the
 * same bytes around a plain text would parse to the same chunk with that text.
 */
export class Recogniser {
  private kind: TextKind | undefined
  private futile = 0

  /** Frames of the last kind at `from`, where an event begins, and where they end. */
  match(text: string, from: number): { frames: TextFrames; end: number } | undefined {
    const { kind } = this
    if (!kind || !text.startsWith(kind.before, from)) return undefined
    const { before, after } = kind
    const texts: string[] = []
    let end = from
    do {
      const start = end + before.length
      const close = text.indexOf('"', start)
      if (close === -1 || !text.startsWith(after, close)) break
      const plain = text.slice(start, close)
      if (notPlain.test(plain) || plain.length > longestFrame - before.length - after.length) break
      texts.push(plain)
      end = close + after.length
    } while (text.startsWith(before, end))
    if (texts.length === 0) return undefined
    this.futile = 0
    return { frames: new TextFrames(kind, texts), end }
  }

  /**
   * Parses a frame by `parse` with a slot in the place of its text: the text is where the slot
   * comes out again. Undefined for a frame that no others may be compared with.
   */
  learn(data: string, parse: (text: string) => JsonObject | undefined): JsonObject | undefined {
    if (this.futile > mostFutile || data.length > longestFrame) return undefined
    const found = data.indexOf(member)
    if (found === -1) return undefined
    const open = found + member.length
    const start = data.indexOf('"', open) + 1
    const close = data.indexOf('"', start)
    // One space at most: what comes later is of another member.
    if (start === 0 || start > open + 2 || close === -1) return undefined
    const text = data.slice(start, close)
    // An event of several lines is not written as one.
    if (notPlain.test(text) || data.includes(slot) || data.includes('\n')) return undefined
    this.futile++
    const [before, after] = [data.slice(0, start), data.slice(close)]
    const chunk = parse(before + slot + after)
    const parts = chunk && textParts(chunk)
    if (!parts) return undefined
    parts.delta['content'] = text
    this.kind = { chunk, ...parts, before: `data: ${before}`, after: `${after}\n\n` }
    return chunk
  }

  /** Takes a chunk as it was repaired for all of its kind; none where that was for it alone. */
  relearn(chunk: JsonObject): void {
    const { kind } = this
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    const delta = isObject(choice) ? choice['delta'] : undefined
    if (!kind || !isObject(choice) || !isObject(delta)) this.kind = undefined
    else {
      // The role is added to the first chunk.
      const isForAll = delta['role'] === undefined || delta['role'] === kind.delta['role']
      const isText = delta['content'] === kind.delta['content']
      this.kind = isForAll && isText ? { ...kind, chunk, choice, delta } : undefined
    }
  }
}

/** The slot for the text of a chunk, if the chunk says and changes nothing else. */
function textParts({ choices, usage }: JsonObject): Pick<TextKind, 'choice' | 'delta'> | undefined {
  if (usage || !Array.isArray(choices) || choices.length !== 1) return undefined
  const [choice] = choices
  const delta = isObject(choice) ? choice['delta'] : undefined
  if (!isObject(choice) || !isObject(delta) || delta['content'] !== slot) return undefined
  // Everything else is output that has to be counted, frame by frame.
  for (const name in delta) {
    if (name !== 'content' && name !== 'role' && !isEmpty(delta[name])) return undefined
  }
  for (const name in choice) {
    if (name !== 'delta' && name !== 'index' && !isEmpty(choice[name])) return undefined
  }
  if ((delta['role'] ?? 'assistant') !== 'assistant') return undefined
  return { choice, delta }
}
