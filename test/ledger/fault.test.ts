import { describe, expect, test } from 'bun:test'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { isOneCommandsFault } from '../../src/ledger/fault.ts'

const wrapped = (facts: object) =>
  new DrizzleQueryError('insert', [], Object.assign(new Error('no'), facts))

describe('a batch that failed is tried again command by command', () => {
  test.each([
    ['a decision of ours', new Error('run is not open')],
    [
      'a broken CHECK of SQLite',
      Object.assign(new Error('no'), { code: 'SQLITE_CONSTRAINT_CHECK' }),
    ],
    [
      'a broken CHECK of PostgreSQL',
      wrapped({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '23514' }),
    ],
    ['a broken CHECK of PGlite', wrapped({ code: '23514' })],
    ['a text with a zero byte', wrapped({ code: '22021' })],
  ])('The batch is tried again command by command after %s.', (_, error) => {
    expect(isOneCommandsFault(error)).toBe(true)
  })

  test.each([
    ['a full disk', wrapped({ code: 'SQLITE_FULL', errno: 13 })],
    ['a lost connection', wrapped({ code: 'ERR_POSTGRES_CONNECTION_CLOSED' })],
    ['a server that stops', wrapped({ code: 'ERR_POSTGRES_SERVER_ERROR', errno: '57P01' })],
    ['a race that was lost for good', wrapped({ code: '40001' })],
  ])('but not after %s: that is everybody’s', (_, error) => {
    expect(isOneCommandsFault(error)).toBe(false)
  })
})
