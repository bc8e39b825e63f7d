/** Gathers what an answer reasons: the text that is shown, and the envelope for the next turn. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import { type CallExtra, type Contents, type PlainName, plainNames, seal } from './envelope.ts'
import { objectsIn, textOf } from './reading.ts'
import { addDetail, wordsOfDetail } from './reasoning-details.ts'

/** Gathers the reasoning of one answer, whole or in pieces, for envelopes. */
export class TurnReasoning {
  private plain: PlainName | undefined
  /** Servers say the same text under two names: the first is shown. */
  private shown: PlainName | 'reasoning_details' | undefined
  private text = ''
  private details: JsonObject[] | undefined
  private extra: Json | undefined
  private calls: CallExtra[] | undefined

  /** @param model the one that may have it back */
  constructor(private readonly model: string) {}

  /** Takes what a message or a piece of one reasons; returns the text to show. */
  add(message: JsonObject): string {
    const { reasoning_details: details, extra_content: extra } = message
    let words = ''
    for (const name of plainNames) {
      const said = message[name]
      if (typeof said !== 'string' || said === '') continue
      this.shown ??= name
      if (this.shown !== name) continue
      words = said
      this.plain = name
    }
    if (Array.isArray(details)) words += this.addDetails(objectsIn(details), words === '')
    if (isObject(extra)) this.extra = extra
    this.text += words
    return words
  }

  private addDetails(details: JsonObject[], isAlone: boolean): string {
    if (details.length === 0) return ''
    this.details ??= []
    let words = ''
    for (const detail of details) {
      addDetail(this.details, detail)
      words += wordsOfDetail(detail)
    }
    if (isAlone && words !== '') this.shown ??= 'reasoning_details'
    return this.shown === 'reasoning_details' ? words : ''
  }

  /** Takes what a call brings along. */
  addCall(id: string, call: JsonObject): void {
    const { extra_content: extra } = call
    if (!isObject(extra)) return
    this.calls ??= []
    this.calls.push([id, extra])
  }

  /** Whether anything has to come back beside the text. */
  get isSealed(): boolean {
    return this.details !== undefined || this.extra !== undefined || this.calls !== undefined
  }

  /** The envelope of what came since the last one. */
  seal(): string {
    const { plain, text, calls, extra } = this
    const details = this.details?.map((detail) =>
      detail['text'] === text && text !== '' && textOf(detail['signature']) !== ''
        ? Object.fromEntries(Object.entries(detail).filter(([name]) => name !== 'text'))
        : detail,
    )
    const contents: Contents = { plain, details, extra, calls }
    this.plain = this.details = this.extra = this.calls = undefined
    this.text = ''
    return seal(this.model, contents)
  }
}
