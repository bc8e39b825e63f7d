import { expect, test } from 'bun:test'
import { Refusal } from '../../src/kernel/refusal.ts'
import { readParts } from '../../src/web/http/body.ts'

const form = new FormData()
form.set('a', 'text')
form.set('b', new File(['of a file'], 'b.txt'))

async function read(headers: Record<string, string>, limitBytes = 10_000, body?: string) {
  const whole = new Response(form)
  const type = whole.headers.get('content-type') ?? ''
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': type, ...headers },
    body: body ?? (await whole.text()),
  })
  try {
    return await readParts(request, { limitBytes })
  } catch (error) {
    if (error instanceof Refusal) return error.type
    throw error
  }
}

test('the parts of a form are read as text, files too', async () => {
  expect(await read({})).toEqual([
    ['a', 'text'],
    ['b', 'of a file'],
  ])
})

test.each([
  ['another type', { 'content-type': 'application/json' }, 'unsupported_media_type'],
  [
    'a type that begins like it',
    { 'content-type': 'multipart/form-datax; a' },
    'unsupported_media_type',
  ],
  ['a compressed body', { 'content-encoding': 'gzip' }, 'unsupported_media_type'],
] as const)('%s is refused', async (_, headers, type) => {
  expect(await read(headers)).toBe(type)
})

test('more than may be read is refused, and so is what is no form', async () => {
  expect(await read({}, 10)).toBe('payload_too_large')
  expect(await read({}, 10_000, 'nothing of the kind')).toBe('invalid_request')
})
