import { describe, expect, test } from 'bun:test'
import { readVerifyRequest } from '../../src/verify/input.ts'
import { fileOf } from './samples.ts'

describe('the request', () => {
  const file = fileOf()
  test.each([
    ['a file', file, { file, chain: 'auto' }],
    ['a file in a wrapper', { receipt: file, options: { chain: 'skip' } }, { file, chain: 'skip' }],
    ['an id', { id: 'rcpt_x' }, { id: 'rcpt_x', chain: 'auto' }],
    [
      'with its parts',
      { receipt: file, proof: { a: 1 }, disclosures: {} },
      { file, proof: { a: 1 }, disclosures: {}, chain: 'auto' },
    ],
  ])('A request with %s is read.', (_, body, request) => {
    const read = 'file' in request ? { ...request, problems: [] } : request
    expect(readVerifyRequest(body)).toEqual({ ok: true, request: read } as never)
  })

  test.each([
    ['null', null, ''],
    ['a list', [], ''],
    ['nothing', {}, 'receipt'],
    ['another object', { object: 'run' }, 'receipt'],
    ['an unknown option', { id: 'rcpt_x', options: { chain: 'always' } }, 'options.chain'],
    ['no options', { id: 'rcpt_x', options: 'skip' }, 'options.chain'],
  ])('A request with %s is refused.', (_, body, path) => {
    const read = readVerifyRequest(body)
    expect(read.ok ? [] : read.problems.map((problem) => problem.path)).toEqual([path])
  })
})
