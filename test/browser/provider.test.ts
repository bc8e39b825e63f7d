import { expect, test } from 'bun:test'
import { readAnnounced } from '../../src/browser/provider.ts'

const provider = { request: async () => undefined }
const announced = (info: object) => readAnnounced({ info, provider })

test('a wallet is known by its domain, else its own id, else its name', () => {
  expect(announced({ name: 'A', rdns: 'a.b', uuid: 'u' })?.id).toBe('a.b')
  expect(announced({ name: 'A', rdns: '', uuid: 'u' })?.id).toBe('u')
  expect(announced({ name: 'A' })?.id).toBe('A')
})

test('ids that are not text are passed over', () => {
  const strange = { toString: 1, valueOf: 1 }
  expect(announced({ name: 'A', rdns: strange, uuid: [[[]]] })?.id).toBe('A')
})
