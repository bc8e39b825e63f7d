/** Makes streams of Messages and of Responses as servers write them that do not keep to them. */
import type { JsonObject } from '../../../src/kernel/json-object.ts'
import type { Prng } from '../../ledger/prng.ts'
import { piecesOf, type Truth } from './odd-chat.ts'

/** The frames of events; `isNamed`: only the frame says what an event is called. */
function framesOf(prng: Prng, events: JsonObject[]): string {
  const form = prng.pick(['usual', 'unnamed', 'name alone', 'bare'])
  return events
    .map((event) => {
      const { type, ...data } = event
      if (form === 'bare') return `${JSON.stringify(event)}\n`
      if (form === 'unnamed') return `data: ${JSON.stringify(event)}\n\n`
      const named = form === 'name alone' ? data : event
      return `event: ${String(type)}\ndata: ${JSON.stringify(named)}\n\n`
    })
    .join('')
}

export function oddMessages(prng: Prng, { text, reasoning, calls }: Truth): string {
  const numbers = prng.pick(['right', 'none', 'zero', 'text', 'from one'])
  const hasStops = prng.below(2) === 0
  const hasStarts = prng.below(2) === 0
  const ids = prng.pick(['right', 'none', 'empty'])
  const inputs = prng.pick(['pieces', 'start', 'text', 'object', 'both'])
  const events: JsonObject[] = []
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }
  const start = prng.pick<JsonObject | null>([
    { message: { ...message, stop_reason: null, usage: { input_tokens: 5, output_tokens: 1 } } },
    { message },
    { message: {} },
    null,
  ])
  if (start) events.push({ type: 'message_start', ...start })
  let count = 0
  const block = (content_block: JsonObject, deltas: JsonObject[], mayBeBare = false): void => {
    const at = count++
    const index: JsonObject =
      numbers === 'none'
        ? {}
        : {
            index:
              numbers === 'zero'
                ? 0
                : numbers === 'text'
                  ? `${at}`
                  : numbers === 'from one'
                    ? at + 1
                    : at,
          }
    const isBegun =
      !mayBeBare || hasStarts || deltas.length === 0 || numbers === 'zero' || numbers === 'none'
    if (isBegun) events.push({ type: 'content_block_start', ...index, content_block })
    for (const delta of deltas) events.push({ type: 'content_block_delta', ...index, delta })
    if (hasStops) events.push({ type: 'content_block_stop', ...index })
  }
  if (reasoning !== '') {
    const begun = prng.pick<JsonObject>([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking' },
    ])
    block(
      begun,
      piecesOf(prng, reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      true,
    )
  }
  if (text !== '') {
    const begun = prng.pick<JsonObject>([
      { type: 'text', text: '' },
      { type: 'text' },
      { type: 'text', text: null },
    ])
    const hasTypes = prng.below(2) === 0
    block(
      begun,
      piecesOf(prng, text).map(
        (one): JsonObject => (hasTypes ? { type: 'text_delta', text: one } : { text: one }),
      ),
      true,
    )
  }
  for (const [at, { name, args }] of calls.entries()) {
    const id: JsonObject =
      ids === 'right' ? { id: `toolu_${at}` } : ids === 'empty' ? { id: '' } : {}
    const json = JSON.stringify(args)
    const input = inputs === 'text' ? json : inputs === 'pieces' || inputs === 'object' ? {} : args
    const pieces = piecesOf(prng, json).map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    }))
    const deltas: JsonObject[] =
      inputs === 'object'
        ? [{ type: 'input_json_delta', partial_json: args }]
        : inputs === 'pieces' || inputs === 'both'
          ? pieces
          : []
    block({ type: 'tool_use', ...id, name, input }, deltas)
  }
  if (count === 0) block({ type: 'text', text: '' }, [])
  const stop_reason = prng.pick(['end_turn', '', 'null', null])
  const usage = prng.pick<JsonObject>([{ usage: { output_tokens: 7 } }, {}, { usage: null }])
  const isToldWhy = prng.below(4) > 0
  if (isToldWhy) events.push({ type: 'message_delta', delta: { stop_reason }, ...usage })
  const isEnded = isToldWhy && stop_reason === 'end_turn' && prng.below(2) === 0
  if (!isEnded) events.push({ type: 'message_stop' })
  return framesOf(prng, events)
}

export function oddResponses(prng: Prng, { text, reasoning, calls }: Truth): string {
  const has = {
    index: prng.below(2) === 0,
    itemId: prng.below(2) === 0,
    added: prng.below(2) === 0,
    deltas: prng.below(3) > 0,
    done: prng.below(2) === 0,
    output: prng.below(2) === 0,
    created: prng.below(3) > 0,
    numbers: prng.below(2) === 0,
  }
  // An item has to come in one way at least; a call without its start has no name.
  if (!has.deltas && !has.done) has.output = true
  const isObject = prng.below(3) === 0
  const events: JsonObject[] = []
  const output: JsonObject[] = []
  const item = (whole: JsonObject, kind: string, empty: JsonObject, value: string): void => {
    const at = output.length
    const hasId = prng.below(3) > 0
    const id: JsonObject = hasId ? { id: `item_${at}` } : {}
    output.push({ ...id, ...whole })
    const index: JsonObject = has.index ? { output_index: at } : {}
    const place = {
      ...index,
      ...(has.itemId && hasId && has.added ? { item_id: `item_${at}` } : {}),
    }
    const isCall = whole['name'] !== undefined
    const isAdded = has.added || (isCall && has.deltas)
    if (isAdded)
      events.push({
        type: 'response.output_item.added',
        ...index,
        item: { ...id, ...whole, ...empty },
      })
    const isSaid = has.deltas && (isAdded || has.index || !isCall)
    if (isSaid) {
      for (const delta of piecesOf(prng, value))
        events.push({ type: `response.${kind}.delta`, ...place, delta })
    }
    // Else nothing would say that the next item is another one.
    const isDone = has.done || !(has.index || isAdded)
    if (isDone)
      events.push({ type: 'response.output_item.done', ...index, item: { ...id, ...whole } })
  }
  const response = {
    id: 'resp_1',
    object: 'response',
    status: 'in_progress',
    model: 'm',
    output: [],
  }
  if (has.created)
    events.push({
      type: 'response.created',
      response: prng.pick<JsonObject>([response, { id: 'resp_1' }]),
    })
  if (reasoning !== '') {
    item(
      { type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] },
      'reasoning_summary_text',
      { summary: [] },
      reasoning,
    )
  }
  if (text !== '') {
    const content = prng.pick<JsonObject>([
      { type: 'output_text', text },
      { type: 'output_text', text, annotations: [] },
    ])
    item(
      { type: 'message', role: 'assistant', content: [content] },
      'output_text',
      { content: [] },
      text,
    )
  }
  for (const [at, { name, args }] of calls.entries()) {
    const json = JSON.stringify(args)
    const callId: JsonObject = prng.below(3) > 0 ? { call_id: `call_${at}` } : {}
    const called = { type: 'function_call', ...callId, name, arguments: isObject ? args : json }
    item(called, 'function_call_arguments', { arguments: '' }, json)
  }
  const status = prng.pick<JsonObject>([{ status: 'completed' }, {}])
  const all = has.output ? { output } : prng.pick<JsonObject>([{ output: [] }, {}])
  events.push({
    type: 'response.completed',
    response: { ...response, ...status, ...all, usage: null },
  })
  return framesOf(
    prng,
    events.map((event, at) => (has.numbers ? { ...event, sequence_number: at } : event)),
  )
}
