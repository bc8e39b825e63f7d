import { afterEach, beforeEach, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { binary, environment } from '../../bench/environment.ts'

const name = 'COUNTERFOIL_BINARY'
let before: string | undefined
beforeEach(() => {
  before = process.env[name]
})
afterEach(() => {
  if (before === undefined) delete process.env[name]
  else process.env[name] = before
})

test('A named build is measured, and its name stays out of the gateway’s environment.', () => {
  process.env[name] = 'other/counterfoil'
  expect(binary()).toBe(resolve('other/counterfoil'))
  const given = environment({ COUNTERFOIL_BASE_URL: 'http://localhost:4663' })
  const settings = Object.keys(given).filter((key) => key.startsWith('COUNTERFOIL_'))
  expect(settings).not.toContain(name)
  expect(given).toMatchObject({
    PATH: process.env['PATH'] ?? '',
    COUNTERFOIL_BASE_URL: 'http://localhost:4663',
  })
})

test('the build in dist is measured where none is named', () => {
  delete process.env[name]
  expect(binary()).toBe(resolve('dist/counterfoil'))
})
