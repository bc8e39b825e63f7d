import { expect, test } from 'bun:test'
import { CachePlaces } from '../../src/models/cache-places.ts'

const hour = 60 * 60_000
const step = { upstream: 'a', model: 'm' }
const user = (content: string) => ({ role: 'user', content })
const request = (...said: string[]) => ({
  messages: [{ role: 'system', content: 'Be brief.' }, ...said.map(user)],
})
const asked = { account: 'x', model: 'm', request: request('Hi.') }

test('A conversation is one by its header, its session_id, its prompt_cache_key or its beginning.', () => {
  const places = new CachePlaces(7n)
  const id = places.idOf(asked)
  expect(places.idOf({ ...asked, request: request('Hi.', 'More.') })).toBe(id)
  const others = [
    { ...asked, request: request('Hello.') },
    { ...asked, account: 'y' },
    { ...asked, model: 'n' },
    { ...asked, request: { ...request('Hi.'), tools: [{ type: 'function' }] } },
    { ...asked, request: { messages: [{ role: 'system', content: 'Be kind.' }, user('Hi.')] } },
    { ...asked, session: 's' },
    { ...asked, request: { ...request('Hi.'), prompt_cache_key: 'c' } },
    { ...asked, request: { ...request('Hi.'), session_id: 'i' } },
  ]
  const ids = [id, ...others.map((one) => places.idOf(one))]
  expect(new Set(ids).size).toBe(ids.length)
  const named = (said: string) => ({ ...request(said), prompt_cache_key: 'c' })
  expect(places.idOf({ ...asked, request: named('One.') })).toBe(
    places.idOf({ ...asked, request: named('Two.') }),
  )
  expect(places.idOf({ ...asked, session: 's', request: named('One.') })).toBe(
    places.idOf({ ...asked, session: 's' }),
  )
})

test('A place is known for an hour after the last answer, to its account alone.', () => {
  const places = new CachePlaces(7n)
  places.note('x', 1n, step, { key: 'k', at: 0 })
  expect(places.find('x', 1n, hour)).toMatchObject({ upstream: 'a', model: 'm', key: 'k' })
  expect(places.find('x', 1n, hour + 1)).toBeUndefined()
  expect(places.find('y', 1n, 0)).toBeUndefined()
  places.note('x', 1n, { upstream: 'b', model: 'm' }, { key: undefined, at: hour })
  expect(places.find('x', 1n, 2 * hour)?.upstream).toBe('b')
  expect(places.size).toBe(1)
})

test('It remembers 50,000 conversations, 10,000 of an account, and forgets the oldest.', () => {
  const places = new CachePlaces(7n)
  places.note('quiet', 1n, step, { key: undefined, at: 0 })
  for (let i = 0n; i < 60_000n; i++) places.note('loud', i, step, { key: undefined, at: 0 })
  expect(places.size).toBe(10_001)
  expect(places.find('quiet', 1n, 0)).toBeDefined()
  expect(places.find('loud', 49_999n, 0)).toBeUndefined()
  expect(places.find('loud', 50_000n, 0)).toBeDefined()
  for (let i = 0; i < 60_000; i++) places.note(String(i), 1n, step, { key: undefined, at: 0 })
  expect(places.size).toBe(50_000)
  expect(places.find('loud', 59_999n, 0)).toBeUndefined()
})
