import { expect, test } from 'bun:test'
import { Refusal } from '../../../src/kernel/refusal.ts'
import { readFileParts, readParts } from '../../../src/web/http/form-parts.ts'

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
] as const)('A form with %s is refused.', async (_, headers, type) => {
  expect(await read(headers)).toBe(type)
})

test('A body above the limit is refused, and so is one that is not a form.', async () => {
  expect(await read({}, 10)).toBe('payload_too_large')
  expect(await read({}, 10_000, 'not a form')).toBe('invalid_request')
})

test('a body in chunks above the limit is refused, as one that says its length is', async () => {
  const whole = new Response(form)
  const type = whole.headers.get('content-type') ?? ''
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': type },
    body: whole.body,
  })
  const refused = await readParts(request, { limitBytes: 100 }).catch((error) => error.type)
  expect(refused).toBe('payload_too_large')
})

test('a form that is cut at any byte gives the parts that came whole', async () => {
  const whole = new Response(form)
  const type = whole.headers.get('content-type') ?? ''
  const text = await whole.text()
  const seen = new Set<number>()
  for (let limitBytes = 1; limitBytes < text.length; limitBytes++) {
    const request = new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': type },
      body: text,
    })
    const { parts, isCut } = await readFileParts(request, { limitBytes, mostBytes: 10_000 })
    expect(isCut).toBe(true)
    expect(parts.map(([name]) => name)).toEqual(['a', 'b'].slice(0, parts.length))
    if (parts[0]) expect(parts[0][1]).toBe('text')
    seen.add(parts.length)
  }
  expect([...seen]).toEqual([0, 1, 2])
})
