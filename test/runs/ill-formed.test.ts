import { expect, test } from 'bun:test'
import { canonical, type Json } from '../../src/kernel/canonical.ts'
import { Collector } from '../../src/runs/answer.ts'

test('an answer with half of a surrogate pair can still be committed to', () => {
  const half = 'x\ud83d'
  const call = { index: 0, id: half, function: { name: half, arguments: half } }
  const collected = new Collector()
  const choices: Json[] = [
    { index: 0, delta: { content: half }, finish_reason: half },
    { index: 1, delta: { content: half, tool_calls: [call] } },
  ]
  collected.addChunk({ choices })
  const mended = canonical(collected.answer().choices)
  expect(mended.match(/x\ufffd/g)).toHaveLength(6)
})
