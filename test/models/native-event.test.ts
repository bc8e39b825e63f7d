import { expect, test } from 'bun:test'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { NativeEvent } from '../../src/models/native-event.ts'

const eventOf = (text: string): NativeEvent => {
  const data: JsonObject = JSON.parse(text)
  return new NativeEvent(data, text, undefined)
}

test('An event has the public name of the model, and every other byte as it came.', () => {
  const text =
    '{"type":"message_start","message":{"model":"far","x": 1.50,"s":"\\"model\\":\\"far\\""}}'
  const named = text.replace('"model":"far"', () => '"model":"acme/$&"')
  expect(eventOf(text).frameFor('acme/$&')).toBe(`event: message_start\ndata: ${named}\n\n`)
  expect(eventOf(text).frameFor('far')).toBe(`event: message_start\ndata: ${text}\n\n`)
  const spaced = '{"type": "response.created", "response": {"model" : "far"}}'
  expect(eventOf(spaced).frameFor('acme')).toContain('"response":{"model":"acme"}')
})

test('An event without a model in its place is written as it came.', () => {
  const text = '{"type":"response.output_text.delta","delta":"x","model":"far"}'
  expect(eventOf(text).frameFor('acme')).toBe(eventOf(text).frame)
})

test('Only a type that is a name becomes one, and data on several lines becomes one line.', () => {
  const told = (type: string) => eventOf(JSON.stringify({ type })).frame
  expect(told('a\ndata: {}')).toStartWith('data: ')
  expect(told('Constructor x')).toStartWith('data: ')
  expect(told('response.output_text.delta')).toStartWith('event: response.output_text.delta\n')
  expect(eventOf('{\n"type":"ping"}').frame).toBe('event: ping\ndata: {"type":"ping"}\n\n')
})
