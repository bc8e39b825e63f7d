/**
 * Walks once over what a model reads of a request that goes on as it came. Images and files stand
 * where the protocol has them and are bounded by the model's rules; everything else is text of as
 * many tokens as its JSON has bytes.
 */
import type { Json } from '../../../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../../../kernel/json-object.ts'
import { refuseField } from '../../../kernel/refusal.ts'
import {
  checkBase64,
  checkDataUrl,
  type MediaTokens,
  type MediaType,
  mostOfUnchecked,
  sumOfMedia,
} from '../../media.ts'
import type { Model } from '../../model.ts'
import { textOf } from '../reading.ts'
import type { ToolRules } from './tools.ts'

/** Parts that name an image or a file, and the member that holds its data. */
const media: ReadonlyMap<string, readonly [type: MediaType, member: string]> = new Map([
  ['image', ['image_url', 'source']],
  ['document', ['file', 'source']],
  ['input_image', ['image_url', 'image_url']],
  ['computer_screenshot', ['image_url', 'image_url']],
  ['input_file', ['file', 'file_data']],
])

/** Holders of parts that the model surely reads as parts: data in them is not text. */
const holders = new Set([
  'message',
  'tool_result',
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
])

/** Parts of text alone, which most parts are. */
const texts = new Set(['text', 'input_text', 'output_text', 'thinking', 'tool_use', 'reasoning'])

/** Members of any part under which further parts may stand. */
const inside = ['content', 'output', 'source', 'tool_references'] as const

/** Base64 that is bounded as an image or a file, and the object whose member it is. */
export type EncodedMember = { of: JsonObject; member: string; length: number }

/** The images, files and tools that stand in a request beside its text. */
export class Content {
  media: MediaTokens | undefined
  readonly encoded: EncodedMember[] = []
  /** How often the definition of a tool is named, by its name: the model reads it each time. */
  references: Map<string, number> | undefined

  constructor(
    private readonly model: Model,
    private readonly tools: ToolRules,
  ) {}

  /** A list of items or messages, without the tools in them that stay behind. */
  turnsOf(turns: readonly Json[], path: string): readonly Json[] {
    let changed: Json[] | undefined
    turns.forEach((turn, at) => {
      if (!isObject(turn)) refuseField(`${path}[${at}]`, 'This is an object here.')
      const left = this.turnOf(turn, `${path}[${at}]`)
      if (left !== turn) changed ??= turns.slice(0, at)
      if (changed && left) changed.push(left)
    })
    return changed ?? turns
  }

  /** Undefined if all its tools stay behind. */
  private turnOf(turn: JsonObject, path: string): JsonObject | undefined {
    // A part among the turns themselves has no known reading.
    this.partOf(turn, path, !media.has(textOf(turn['type'])))
    const { tools } = turn
    if (!Array.isArray(tools) || tools.length === 0) return turn
    const left = this.tools.listOf(tools, `${path}.tools`)
    if (left === tools) return turn
    return left.length === 0 ? undefined : { ...turn, tools: left }
  }

  /** Takes the parts of a content. `isSure`: the model surely reads parts there. */
  take(content: Json | undefined, path: string, isSure: boolean): void {
    if (Array.isArray(content)) {
      content.forEach((part, at) => {
        if (isObject(part)) this.partOf(part, `${path}[${at}]`, isSure)
      })
    } else if (isObject(content)) this.partOf(content, path, isSure)
  }

  private partOf(part: JsonObject, path: string, isSure: boolean): void {
    const type = textOf(part['type'])
    if (texts.has(type)) return
    const known = media.get(type)
    if (known) {
      this.mediaOf(part, known, path, isSure)
      return
    }
    if (type === 'tool_reference') this.note(textOf(part['tool_name']))
    if (type === 'tool_addition') this.checkAddition(part, path)
    refuseReference(part, type, path)
    const holds = isSure && (type === '' || holders.has(type))
    for (const member of inside) {
      const held = part[member]
      if (typeof held !== 'object' || held === null) continue
      if (member === 'source') refuseAddress(held, `${path}.source`)
      this.take(held, `${path}.${member}`, holds)
    }
  }

  private mediaOf(
    part: JsonObject,
    [type, member]: readonly [MediaType, string],
    path: string,
    isSure: boolean,
  ): void {
    for (const name of ['file_id', 'file_url']) {
      if (isSet(part[name])) refuseField(`${path}.${name}`, 'Send the content itself.')
    }
    const at = `${path}.${member}`
    if (member !== 'source') {
      if (isSure) this.add(checkDataUrl(this.model, part[member], type, { path, at }), part, member)
      else this.addUnsure(type)
      return
    }
    const source = part['source']
    if (!isObject(source)) refuseField(at, 'This block needs a source.')
    switch (source['type']) {
      case 'base64':
        if (isSure) this.add(checkBase64(this.model, source, type, { path, at }), source, 'data')
        else this.addUnsure(type)
        return
      case 'text':
        return
      case 'content':
        this.take(source['content'], `${at}.content`, isSure)
        return
      default:
        refuseField(`${at}.type`, 'Send the content itself: a source of type base64.')
    }
  }

  private add(tokens: MediaTokens, of: JsonObject, member: string): void {
    this.media = sumOfMedia(this.media, tokens)
    const data = textOf(of[member])
    this.encoded.push({ of, member, length: data.length - (data.indexOf(',') + 1) })
  }

  /** Its data may as well be read as text: it counts both ways. */
  private addUnsure(type: MediaType): void {
    const most = mostOfUnchecked(this.model, type)
    if (most > 0) this.media = sumOfMedia(this.media, { most, likely: 0 })
  }

  private note(name: string): void {
    this.references ??= new Map()
    this.references.set(name, (this.references.get(name) ?? 0) + 1)
  }

  /** A tool that joins in the middle of a conversation. */
  private checkAddition({ tool }: JsonObject, path: string): void {
    if (!isObject(tool)) return
    const { definition } = tool
    this.tools.takeCallers(isObject(definition) ? definition : tool, `${path}.tool`)
  }
}

/** Refuses a file of unknown length in an unknown part. @throws Refusal */
function refuseReference(part: JsonObject, type: string, path: string): void {
  // Results name files that a tool made before; they are not read again.
  if (/_(output|result)$/.test(type)) return
  for (const name of ['file_id', 'file_url']) {
    if (textOf(part[name]) !== '') refuseField(`${path}.${name}`, 'Send the content itself.')
  }
}

function refuseAddress(source: Json, path: string): void {
  const type = isObject(source) ? source['type'] : undefined
  if (type !== 'url' && type !== 'file') return
  refuseField(`${path}.type`, 'Send the content itself: a source of type base64.')
}
