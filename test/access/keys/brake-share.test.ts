import { afterAll, beforeAll, expect, test } from 'bun:test'
import { html, json, post } from '../../front/admin/admin.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { type Browser, browser, signInWith } from '../accounts/wallet.ts'

let w: World
let own: Browser
beforeAll(async () => {
  w = await world()
  own = browser(w)
  await signInWith(own)
})
afterAll(() => w.stop())

const brakes = async (name: string) => {
  const all = await w.deps.keys.list(testAccount, w.deps.clock.now())
  const key = all.find((one) => one.key.name === name)?.key
  return [key?.brakeMinute, key?.brakeHour]
}

test('A brake typed in percent is that part of the cap; an amount stays an amount.', async () => {
  const form = { cap: '5.00', window: 'lifetime' }
  await post(own, '/api/portal/keys', { ...form, name: 'share', brake_per_minute: '10%' }, html)
  expect(await brakes('share')).toEqual([usd / 2n, null])
  const both = { brake_per_minute: '0.25', brake_per_hour: ' 100 % ' }
  await post(own, '/api/portal/keys', { ...form, name: 'both', ...both }, html)
  expect(await brakes('both')).toEqual([usd / 4n, 5n * usd])
  const wrong = { ...form, name: 'wrong', brake_per_minute: '0%' }
  expect((await post(own, '/api/portal/keys', wrong, json)).status).toBe(400)
  expect(await brakes('wrong')).toEqual([undefined, undefined])
})
