/**
 * Counts the bytes of answers that are handed on as they came. Every member that a client receives
 * is output, except those that are named here.
 */
import type { Json } from '../../kernel/canonical.ts'
import { isEmpty, longestLabel } from '../free-members.ts'

/**
 * `label`: a name or a place, up to the length of a name. `fact`: counts and settings, whose texts
 * are labels. `repeat`: says again what is counted or was sent. `seal`: its server alone reads it.
 * `whole`: an object that the model wrote as it is, marks included.
 */
type Kind = 'label' | 'fact' | 'repeat' | 'seal' | 'whole'

const kindOf: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...each('label', ['type', 'id', 'item_id', 'call_id', 'tool_use_id', 'tool_id', 'file_id']),
  ...each('label', ['index', 'output_index', 'content_index', 'summary_index', 'sequence_number']),
  ...each('label', [
    'annotation_index',
    'start_index',
    'end_index',
    'partial_image_index',
    'command_index',
  ]),
  ...each('label', ['role', 'status', 'model', 'object', 'created_at', 'completed_at']),
  ...each('label', ['stop_reason', 'stop_sequence', 'service_tier', 'phase']),
  ...each('fact', ['usage', 'caller', 'container', 'context_management', 'stop_details']),
  // Random bytes against the length of words, and probabilities for a client that asked for them.
  ...each('repeat', ['obfuscation', 'logprobs', 'top_logprobs']),
  // The words of a source, which the model read and its vendor does not bill as written.
  ...each('repeat', ['cited_text']),
  ...each('seal', ['signature', 'encrypted_content', 'encrypted_index', 'encrypted_stdout']),
  ...each('whole', ['input']),
])

function each(kind: Kind, names: readonly string[]): [string, Kind][] {
  return names.map((name) => [name, kind])
}

/** A running sum of UTF-8 bytes. */
export class MemberBytes {
  said = 0
  sealed = 0

  get all(): number {
    return this.said + this.sealed
  }

  /** Adds every member of an object but one. */
  addMembers(of: { [member: string]: Json }, but?: string): void {
    for (const name in of) if (name !== but) this.add(name, of[name], of)
  }

  /** Adds one member of an object. */
  add(name: string, value: Json | undefined, of: { [member: string]: Json }): void {
    if (value === null || value === undefined) return
    const kind = name === 'data' && of['type'] === 'redacted_thinking' ? 'seal' : kindOf.get(name)
    if (kind === 'repeat') return
    if (typeof value === 'string') {
      if (kind === 'seal') this.sealed += Buffer.byteLength(value)
      else if (kind === undefined || value.length > longestLabel) this.addText(value)
    } else if (typeof value !== 'object') {
      if (kind !== 'label') this.said += String(value).length
    } else if (kind === 'fact') this.addLongTexts(value)
    else if (Array.isArray(value)) for (const item of value) this.add(name, item, of)
    else if (kind !== 'whole') this.addMembers(value)
    else if (!isEmpty(value)) this.addText(JSON.stringify(value))
  }

  private addText(text: string): void {
    this.said += Buffer.byteLength(text)
  }

  /** Adds the texts of a value that are too long to be labels. */
  private addLongTexts(value: Json): void {
    if (typeof value === 'string') {
      if (value.length > longestLabel) this.addText(value)
    } else if (Array.isArray(value)) for (const item of value) this.addLongTexts(item)
    else if (typeof value === 'object' && value !== null) {
      for (const name in value) this.addLongTexts(value[name] ?? null)
    }
  }
}

/** The bytes of some objects: blocks or items. */
export function bytesOfAll(objects: readonly { [member: string]: Json }[]): MemberBytes {
  const bytes = new MemberBytes()
  for (const one of objects) bytes.addMembers(one)
  return bytes
}
