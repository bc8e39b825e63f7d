import { afterEach, describe, expect, test } from 'bun:test'
import { parseJson, parseObject } from '../../../src/kernel/json-object.ts'
import { joinChunks } from '../../../src/models/protocols/chat/whole.ts'

/** The members that all objects would have by then. */
const spread = () => Object.keys(Object.prototype)
afterEach(() => {
  for (const name of spread()) Reflect.deleteProperty(Object.prototype, name)
})

const chunk = (delta: string) =>
  JSON.parse(`{"choices":[{"index":0,"delta":${delta},"finish_reason":"stop"}]}`)

describe('a member that is named like the prototype', () => {
  test.each([
    ['of a message', '{"content":"x","__proto__":{"isExempt":true}}'],
    ['inside of a member', '{"extra":{"__proto__":{"isExempt":true}}}'],
    ['of a call', '{"tool_calls":[{"index":0,"__proto__":{"isExempt":true}}]}'],
    ['of the function of a call', '{"tool_calls":[{"function":{"__proto__":{"isExempt":true}}}]}'],
    ['named twice', '{"constructor":{"prototype":{"isExempt":true}},"toString":{"a":1}}'],
  ])('%s reaches no other object when chunks are joined', (_, delta) => {
    joinChunks([chunk(delta), chunk(delta)])
    expect(spread()).toEqual([])
    expect(({} as { isExempt?: boolean }).isExempt).toBeUndefined()
  })

  test('is left out of what a server or client says, also where it is escaped', () => {
    const text = '{"a":1,"__proto__":{"b":2},"c":[{"\\u005f_proto__":{"d":3}}]}'
    expect(JSON.stringify(parseObject(text))).toBe('{"a":1,"c":[{}]}')
    expect(parseJson('["\\u005c", "__proto__"]')).toEqual(['\\', '__proto__'])
  })
})
