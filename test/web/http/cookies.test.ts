import { describe, expect, test } from 'bun:test'
import { readCookie } from '../../../src/web/http/cookies.ts'

const found = (cookie: string, baseUrl = 'http://localhost:8080') =>
  readCookie(new Headers({ cookie }), 'sid', baseUrl)

describe('a cookie', () => {
  test.each([
    ['sid=one', 'one'],
    ['sid=one; other=two', 'one'],
    ['other=two; sid=one', 'one'],
    ['other=two;sid=one', 'one'],
    ['other=two;  sid = one ; last=three', 'one'],
    ['flag; sid=one', 'one'],
    ['sid=a=b', 'a=b'],
    ['sid=', ''],
  ])('The cookie is found in %j.', (cookie, value) => {
    expect(found(cookie)).toBe(value)
  })

  test.each([
    '',
    'sid',
    '=sid',
    'asid=one',
    'side=one',
    'side',
    'SID=one',
    'other=sid=one',
    'sid=one; sid=one',
    'sid=one; sid=two',
    'sid=; sid=two',
    '__Host-sid=one',
  ])('The cookie is not in %j.', (cookie) => {
    expect(found(cookie)).toBeUndefined()
  })

  test('has the name on https that only this host can set', () => {
    const baseUrl = 'https://gw.example'
    expect(found('sid=planted; __Host-sid=one', baseUrl)).toBe('one')
    expect(found('sid=planted', baseUrl)).toBeUndefined()
  })

  test('is none where no cookie was sent', () => {
    expect(readCookie(new Headers(), 'sid', 'http://localhost')).toBeUndefined()
  })
})
