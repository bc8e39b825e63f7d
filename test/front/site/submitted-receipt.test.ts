import { describe, expect, test } from 'bun:test'
import { readSubmission } from '../../../src/proof/receipts/submitted-receipt.ts'

const base = 'https://gate.example'
const id = 'rcpt_01k7qz4n8e3v5w0m2b9c7d1f4g'

describe('what is given to be checked', () => {
  test.each([
    id,
    `  ${id}\n`,
    `${base}/receipts/${id}`,
    `${base}/r/${id}`,
    `${base}/receipts/${id}/file`,
    `${base}/v1/receipts/${id}?x=1#y`,
    `HTTPS://GATE.example/receipts/${id}`,
  ])('%p names a receipt of this service', (text) => {
    expect(readSubmission(text, base)).toEqual({ kind: 'receipt', id })
  })

  test.each([
    [`https://other.example/receipts/${id}`, 'another service'],
    [`http://gate.example/receipts/${id}`, 'another service'],
    [`${base}@other.example/receipts/${id}`, 'another service'],
    [`${base}.other.example/receipts/${id}`, 'another service'],
    ['https://', 'another service'],
    [`${base}/models`, 'does not lead to a receipt'],
    [`${base}/receipts/rcpt_01K7QZ4N8E3V5W0M2B9C7D1F4G`, 'does not lead to a receipt'],
    ['', 'Choose a receipt file'],
    [' \n ', 'Choose a receipt file'],
    ['run_01k7qz4n8e3v5w0m2b9c7d1f4g', 'neither a receipt file nor'],
    ['{"type": "counterfoil.receipt"', 'neither a receipt file nor'],
    ['{"type": "counterfoil.proof"}', 'not a receipt file'],
    ['{"type": "counterfoil.receipt"}', 'not a receipt file'],
    ['[1]', 'not a receipt file'],
    ['null', 'not a receipt file'],
    ['7', 'not a receipt file'],
  ])('%p is told what is wrong with it', (text, words) => {
    const given = readSubmission(text, base)
    expect(given.kind).toBe('wrong')
    expect('message' in given && given.message).toContain(words)
  })

  test('a file is a file however wrong it is inside: that is for the checks', () => {
    const file = { type: 'counterfoil.receipt', receipt: { id: '</script>' } }
    const given = { kind: 'file', file: file as never, problems: [] } as const
    expect(readSubmission(JSON.stringify(file), base)).toEqual(given)
  })
})
