import { expect, test } from 'bun:test'
import { nativeRequest } from '../../src/models/protocols/native.ts'

test('A namespace of tools goes on only if the caller runs all that is in it.', () => {
  const namespace = (...types: string[]) => ({
    type: 'namespace',
    name: 'mcp',
    tools: types.map((type) => ({ type, name: type })),
  })
  const [own, mixed] = [namespace('function', 'custom'), namespace('function', 'web_search')]
  const body = { input: 'a', tools: [own, mixed, namespace('namespace')] }
  const to = { model: 'far', maxTokens: 5, pass: [] }
  const sent = nativeRequest({ protocol: 'responses', body, headers: {} }, to)
  expect(sent.body['tools']).toEqual([own])
  expect(sent.ignored).toEqual(['tools.namespace', 'tools.namespace'])
})
