import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import { isObject, type JsonObject } from '../../../src/kernel/json-object.ts'
import { Refusal } from '../../../src/kernel/refusal.ts'
import type { Bound } from '../../../src/models/bound.ts'
import { echoModel } from '../../../src/models/builtins.ts'
import {
  type ForwardedRequest,
  forward,
  unsayableTo,
} from '../../../src/models/protocols/forward.ts'
import { messagesToChat } from '../../../src/models/protocols/messages/request-to-chat.ts'
import { nativeOf } from '../../../src/models/protocols/native.ts'
import type { Protocol } from '../../../src/models/protocols/protocol.ts'
import { responsesToChat } from '../../../src/models/protocols/responses/request-to-chat.ts'
import type { Translation } from '../../../src/models/protocols/translation.ts'
import { nightly } from '../../support/nightly.ts'
import { promise } from '../../support/promise.ts'
import { requests } from './requests.ts'

const protocols = ['chat', 'messages', 'responses'] as const
const read: Record<Protocol, (received: JsonObject) => Translation> = {
  chat: (body) => ({ body, ignored: [] }),
  messages: messagesToChat,
  responses: responsesToChat,
}

const model = { ...echoModel, imageTokensMax: 1000 }
const bound: Bound = { inputTokens: 1, outputTokens: 50, maxTokens: 50, n: 1, inputBytes: 1 }

/** What a door sends to a model server; the member that it refuses instead. */
function sent(door: Protocol, wire: Protocol, received: JsonObject): ForwardedRequest | string {
  try {
    const step = { upstream: 'far', model: 'm' }
    if (door !== 'chat' && door === wire) {
      const native = nativeOf(door, received, { headers: new Headers(), model })
      return forward({ model, bound, native, door, ignored: [] }, step, wire)
    }
    const { body, ignored } = read[door](received)
    const fault = unsayableTo(wire, body, door)
    if (fault) return fault.param
    return forward({ model, body, bound, door, ignored }, step, wire)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.detail.param ?? 'nothing'
  }
}

type Leaf = { names: string[]; marks: string[] }

/** Each text with its marks, and the names and types on the way to it. */
function leavesOf(value: Json, names: string[] = []): Leaf[] {
  if (typeof value === 'string') return [{ names, marks: value.match(/mark\d+z/g) ?? [] }]
  if (Array.isArray(value)) return value.flatMap((one) => leavesOf(one, names))
  if (!isObject(value)) return []
  const type = typeof value['type'] === 'string' ? [value['type']] : []
  return Object.entries(value).flatMap(([name, member]) =>
    leavesOf(member, [...names, ...type, name]),
  )
}

/** A key of a cache that breakpoints stand for has gone on. */
const isKept = ({ names }: Leaf, out: string): boolean =>
  names.join('.') === 'prompt_cache_key' && out.includes('"cache_control":{"type":"ephemeral"}')

/** What neither went on nor was named. */
function lost(received: JsonObject, { body, ignored }: ForwardedRequest): string[] {
  const out = JSON.stringify(body)
  const isNamed = ({ names }: Leaf): boolean =>
    ignored.some((name) => {
      const last = name.split('.').at(-1)?.split(' ')[0] ?? ''
      return names.some((on) => on === last || on.startsWith(`${last}_`))
    })
  return leavesOf(received)
    .filter((leaf) => !leaf.marks.every((mark) => out.includes(mark)))
    .filter((leaf) => !isNamed(leaf) && !isKept(leaf, out))
    .map(({ names }) => `${names.join('.')} is not among ${ignored.join(', ')}`)
}

const runs = { numRuns: nightly(300, 3000), seed: 4663 }

describe.each(protocols.flatMap((door) => protocols.map((wire) => [door, wire] as const)))(
  '%s before %s',
  (door, wire) => {
    promise`D33 H: No member of a request is lost in silence; where both sides speak alike, bytes
      pass.`
    test('every member goes on, is named as ignored, or is refused by name', () => {
      let refused = 0
      let whole = 0
      fc.assert(
        fc.property(requests[door], (received) => {
          const out = sent(door, wire, received)
          if (typeof out === 'string') {
            refused++
            expect(Object.keys(received)).toContain(out.split(/[.[]/)[0] ?? '')
            return
          }
          whole++
          expect(lost(received, out)).toEqual([])
        }),
        runs,
      )
      expect([whole > 50, whole + refused > 299]).toEqual([true, true])
    })
  },
)
