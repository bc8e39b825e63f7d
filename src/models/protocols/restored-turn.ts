/** Puts back into a message what its envelopes hold, as its server sent it. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { isEnvelope, type PlainName, unseal } from './envelope.ts'
import { objectsIn, textOf } from './reading.ts'

/** Reads the envelopes of one turn of the assistant. */
export class RestoredTurn {
  private readonly plain = new Map<PlainName, string>()
  private readonly details: JsonObject[] = []
  private readonly calls = new Map<string, Json>()
  private extra: Json | undefined

  /** @param model the one that is asked now */
  constructor(private readonly model: string) {}

  /**
   * Takes an envelope and the text beside it. False for text without one, and for one that is
   * malformed or holds what another model said.
   */
  add(text: string, sealed: Json | undefined): boolean {
    const contents = isEnvelope(sealed) ? unseal(sealed, this.model) : undefined
    if (!contents) return false
    const { plain, details = [], extra, calls = [] } = contents
    if (plain) this.plain.set(plain, (this.plain.get(plain) ?? '') + text)
    for (const detail of details) {
      const isBeside = textOf(detail['signature']) !== '' && detail['text'] === undefined
      this.details.push(isBeside ? { ...detail, text } : detail)
    }
    if (extra !== undefined) this.extra = extra
    for (const [id, one] of calls) this.calls.set(id, one)
    return true
  }

  /** Adds what was taken to the message of the turn. */
  restore(message: JsonObject): void {
    for (const [name, text] of this.plain) message[name] = text
    if (this.details.length > 0) message['reasoning_details'] = this.details
    if (this.extra !== undefined) message['extra_content'] = this.extra
    if (this.calls.size === 0) return
    for (const call of objectsIn(message['tool_calls'])) {
      const extra = this.calls.get(textOf(call['id']))
      if (isObject(extra)) call['extra_content'] = extra
    }
  }
}
