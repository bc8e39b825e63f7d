import { canonical, type Json } from '../../src/kernel/canonical.ts'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { boundOf } from '../../src/models/bound.ts'
import { echoModel } from '../../src/models/builtins.ts'
import type { Model } from '../../src/models/model.ts'
import { ChunkReader } from '../../src/models/protocols/chat/read-chunks.ts'
import { forward, type RouteRequest, unsayableTo } from '../../src/models/protocols/forward.ts'
import type { GatheredAnswer } from '../../src/models/protocols/gathered-answer.ts'
import { MessageReader, messageToChat } from '../../src/models/protocols/messages/answer-to-chat.ts'
import { MessageRepair } from '../../src/models/protocols/messages/repair-events.ts'
import { messagesToChat } from '../../src/models/protocols/messages/request-to-chat.ts'
import { repairMessage } from '../../src/models/protocols/messages/whole.ts'
import { boundOfNative } from '../../src/models/protocols/native/bound.ts'
import {
  gatherNative,
  isFinishing,
  type Native,
  nativeCollector,
  nativeOf,
} from '../../src/models/protocols/native.ts'
import type { Protocol } from '../../src/models/protocols/protocol.ts'
import type { EventRepair } from '../../src/models/protocols/repaired.ts'
import {
  ResponseReader,
  responseToChat,
} from '../../src/models/protocols/responses/answer-to-chat.ts'
import { ResponseRepair } from '../../src/models/protocols/responses/repair-events.ts'
import { responsesToChat } from '../../src/models/protocols/responses/request-to-chat.ts'
import { repairResponse } from '../../src/models/protocols/responses/whole.ts'
import { widest } from '../../src/models/wider-bounds.ts'
import { Collector, readAnswer } from '../../src/runs/answer.ts'
import { sound } from '../../src/runs/native-sorter.ts'
import { parseSound } from '../../src/web/http/body.ts'
import { speechAt } from '../support/stub-speech.ts'
import { doorBodies } from './door-bodies.ts'
import { must, type Target } from './run.ts'

const model: Model = { ...echoModel, id: 'acme/any', verifiable: 'none', imageTokensMax: 1000 }
const bodies = doorBodies(model.id)
const wires = ['chat', 'messages', 'responses'] as const
const doors = {
  messages: { read: messagesToChat, good: bodies.messages },
  responses: { read: responsesToChat, good: bodies.responses },
} as const

const objectIn = (text: string): JsonObject => {
  const value = parseSound(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** A request has a bound, and can be sent to a server of every kind or is refused before. */
function sendable(protocol: Native['protocol'], received: JsonObject): void {
  const native = nativeOf(protocol, received, { headers: new Headers(), model })
  const own = boundOfNative(model, native)
  must(own.inputBytes === native.bytes, 'bytes of what goes on')
  sendableTo(protocol, { model, bound: own, native, door: protocol, ignored: [] })
  const { body, ignored } = doors[protocol].read(received)
  const bound = widest(own, boundOf(model, body))
  for (const count of [bound.inputTokens, bound.outputTokens, bound.inputBytes]) {
    must(Number.isSafeInteger(count) && count >= 0, 'a count')
  }
  for (const wire of wires) {
    if (wire === protocol || unsayableTo(wire, body, protocol)) continue
    sendableTo(wire, { model, body, bound, native, door: protocol, ignored })
  }
}

function sendableTo(wire: Protocol, asked: RouteRequest): void {
  const sent = forward(asked, { upstream: 'far', model: 'm' }, wire)
  must(sent.isNative === (wire === asked.native?.protocol), 'the way it goes')
  JSON.stringify(sent.body)
}

/** What an answer comes to can be committed to and counted. */
function countable(gathered: GatheredAnswer): void {
  canonical(sound(gathered).choices)
  const { outputBytes } = gathered
  must(Number.isSafeInteger(outputBytes) && outputBytes >= 0, 'counts')
}

const usage = { prompt_tokens: 7, completion_tokens: 5 }
const speechOf = (protocol: Native['protocol']) => speechAt(`/v1/${protocol}`, 'm')

/** The events of a whole stream. */
function eventsOf(protocol: Native['protocol']): Json[] {
  const speech = speechOf(protocol)
  const text =
    speech.begin(usage) + speech.word('The') + speech.end(usage).join('') + speech.done(usage)
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}

const readers = {
  messages: () => new MessageReader(),
  responses: () => new ResponseReader(),
}
const wholes = { messages: messageToChat, responses: responseToChat }
const newId = (prefix: string): string => `${prefix}_1`
const repairs = {
  messages: () => new MessageRepair(newId),
  responses: () => new ResponseRepair(newId),
}
const wholeRepairs = { messages: repairMessage, responses: repairResponse }

/** The events that take the place of one. */
function repairedBy(repair: EventRepair, event: JsonObject): JsonObject[] {
  const repaired = repair.repair(event)
  return Array.isArray(repaired) ? repaired.map((one) => one.event) : [repaired]
}

/** What the doors of Messages and Responses are asked, and what servers of their kinds answer. */
export const doorTargets: readonly Target[] = (['messages', 'responses'] as const).flatMap(
  (protocol): Target[] => [
    {
      name: `request of ${protocol}`,
      goodJson: doors[protocol].good,
      read: (text) => sendable(protocol, objectIn(text)),
    },
    {
      name: `answer of ${protocol}`,
      goodJson: [speechOf(protocol).whole('The fox', usage)],
      read(text) {
        const answer = objectIn(text)
        countable(gatherNative(protocol, answer))
        const repaired = wholeRepairs[protocol](answer, newId)
        if (repaired && !('failure' in repaired)) countable(gatherNative(protocol, repaired))
        const chat = wholes[protocol](answer)
        if (chat?.['choices']) canonical(readAnswer(chat).choices)
      },
    },
    {
      name: `event of ${protocol}`,
      goodJson: eventsOf(protocol),
      read(text) {
        const event = objectIn(text)
        const collected = nativeCollector(protocol)
        const reader = readers[protocol]()
        const translated = new Collector()
        const repair = repairs[protocol]()
        const chunks = new ChunkReader({ newId: (place) => `call_${place}` })
        const outgoing: JsonObject[] = []
        for (const one of [...eventsOf(protocol).slice(0, 2), event, event]) {
          const object = objectIn(JSON.stringify(one))
          must(typeof isFinishing(protocol, object) === 'boolean', 'an end or none')
          collected.add(object)
          for (const repaired of repairedBy(repair, object)) {
            const { chunk } = reader.read(repaired)
            if (chunk) chunks.read(chunk, '', outgoing)
          }
        }
        for (const { event: last } of repair.close(true) ?? []) reader.read(last)
        chunks.close(true, outgoing)
        for (const one of outgoing) translated.addChunk(one)
        countable(collected.answer())
        canonical(translated.answer().choices)
      },
    },
  ],
)
