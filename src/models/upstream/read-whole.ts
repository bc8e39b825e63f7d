/** Reads answers that were asked for whole, also where they come as a stream. */
import { type JsonObject, parseObject } from '../../kernel/json-object.ts'
import { NativeEvent } from '../native-event.ts'
import { joinChunks } from '../protocols/chat/whole.ts'
import type { EventReader } from '../protocols/event-reader.ts'
import { openChunks } from './chunk-stream.ts'
import type { WireAnswer } from './http.ts'
import { errorObjectIn, inBandFailure } from './in-band.ts'
import type { WordRules } from './refused.ts'
import { plainChunks, type UpstreamCall, UpstreamFailure } from './upstream.ts'
import type { RepairRules, WireProtocol } from './wire-protocol.ts'

type Reading = { call: UpstreamCall; wireProtocol: WireProtocol; rules: WordRules }

/** The reader for the stream of a call. */
export function readerFor(call: UpstreamCall, wireProtocol: WireProtocol): EventReader {
  const repairing = repairingOf(call)
  return call.isNative ? wireProtocol.nativeReader(repairing) : wireProtocol.reader(repairing)
}

/** Ids that an answer lacks are made of the id of its run: distinct in all answers. */
function repairingOf({ run = '', body, mark }: UpstreamCall): RepairRules {
  let count = 0
  return {
    newId: (prefix) => `${prefix}_${run}${run && '_'}${count++}`,
    hasFunctions: body['functions'] !== undefined,
    onUnknown(word) {
      if (mark) mark.unknownFinish = word
    },
  }
}

/**
 * The answer that a body has, native or in the shape of Chat Completions.
 * @throws UpstreamFailure
 */
export async function readWhole(text: string, reading: Reading): Promise<JsonObject> {
  const { call, wireProtocol, rules } = reading
  const body = parseObject(text)
  if (!body) return await readStreamed(text, reading)
  const told = errorObjectIn(body)
  if (told) throw inBandFailure(told, rules)
  const repaired = wireProtocol.repair(call.kind, body, repairingOf(call))
  if (repaired && 'failure' in repaired) throw inBandFailure(objectFrom(repaired), rules)
  const read = repaired && (call.isNative ? repaired : wireProtocol.toChat(repaired))
  return read ?? (await readStreamed(text, reading))
}

const objectFrom = ({ failure }: JsonObject | { failure: JsonObject }): JsonObject =>
  failure as JsonObject

/** Reads events in the place of one answer. One that is cut was not used, so it is an error. */
async function readStreamed(text: string, reading: Reading): Promise<JsonObject> {
  const { call, wireProtocol, rules } = reading
  // Half an answer, or a page.
  if (call.kind !== 'chat' || !beginsLikeEvents.test(text)) throw new UpstreamFailure('error')
  const reader = readerFor(call, wireProtocol)
  const chunks: JsonObject[] = []
  const events: JsonObject[] = []
  try {
    for await (const batch of await openChunks(answerOf(text), { reader, rules, parseAll: true })) {
      chunks.push(...plainChunks(batch))
      for (const one of batch) if (one instanceof NativeEvent) events.push(one.data)
    }
  } catch (error) {
    const isCut = error instanceof UpstreamFailure && error.reason === 'cut'
    throw isCut ? new UpstreamFailure('error') : error
  }
  return call.isNative ? wireProtocol.join(events) : joinChunks(chunks)
}

const beginsLikeEvents = /^\s*(?:(?:data|event|id|retry|error)?:|\{|null\s)/

/** An answer whose body has come. */
function answerOf(text: string): WireAnswer {
  let left: Uint8Array | undefined = new TextEncoder().encode(text)
  return {
    status: 200,
    text: async () => text,
    async read() {
      const bytes = left
      left = undefined
      return bytes
    },
    async flow(take) {
      const bytes = await this.read()
      if (bytes) await take(bytes)
    },
    end: () => {},
    stop: () => {},
  }
}
