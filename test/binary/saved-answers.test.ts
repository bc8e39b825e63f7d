import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/kernel/json-object.ts'
import { readingsOf } from '../../src/runs/saved-answer.ts'
import { checkContent } from '../../src/verify/checks.ts'
import { type Agents, serveAgents } from '../clients/scripted.ts'
import { noBinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'
import { wireNames } from '../support/scripted-upstream.ts'

// Each call of the command is a process, on a busy machine.
setDefaultTimeout(120_000)

const parameters = { type: 'object', properties: { city: { type: 'string' } } }
const turn = { messages: [{ role: 'user', content: 'How is the weather in Rome?' }] }

/** How each door is asked, plain and with a tool. */
const doors: Record<string, { path: string; body: JsonObject; tool: JsonObject }> = {
  chat: {
    path: '/v1/chat/completions',
    body: { ...turn, max_tokens: 500 },
    tool: { type: 'function', function: { name: 'weather', parameters } },
  },
  messages: {
    path: '/v1/messages',
    body: { ...turn, max_tokens: 500 },
    tool: { name: 'weather', input_schema: parameters },
  },
  responses: {
    path: '/v1/responses',
    body: { input: 'How is the weather in Rome?', max_output_tokens: 500 },
    tool: { type: 'function', name: 'weather', parameters },
  },
}

promise`S11 H: An answer that a client saved is checked against its receipt, of every door.`
describe.skipIf(noBinary)('verify --answer, of answers as they were saved', () => {
  let served: Agents
  let signer = ''
  beforeAll(async () => {
    served = await serveAgents()
    signer = (await served.server.get('/v1/signer')).address
  })
  afterAll(() => served?.stop())

  const save = (name: string, text: string): string => {
    writeFileSync(join(served.folder, name), text)
    return name
  }
  const verify = (receipt: string, answer: string) =>
    served.cli('verify', receipt, '--answer', answer, '--signer', signer)

  const asks = wireNames.flatMap((wire) =>
    Object.keys(doors).flatMap((door) =>
      ['agent', 'thinker'].flatMap((model) =>
        [true, false].map((stream) => [door, wire, model, stream] as const),
      ),
    ),
  )
  test.each(asks)(
    '%s before a server of kind %s, the model %s, stream %p: it is the one, another is not',
    async (door, wire, model, stream) => {
      const { path, body, tool } = doors[door] ?? { path: '', body: {}, tool: {} }
      for (const [more, word, other] of [
        [{}, 'sunny', 'funny'],
        [{ tools: [tool] }, 'Bonn', 'Born'],
      ] as const) {
        const json = { model: `${wire}/${model}`, stream, ...body, ...more }
        const answer = await served.server.call(path, { key: served.secret, json })
        const text = await answer.text()
        const id = answer.headers.get('x-receipt-id')
        const file = await served.server.call(`/v1/receipts/${id}`, { key: served.secret })
        const receipt = await file.text()
        expectEachWordCounts({ receipt, text, word, other })
        // The command reads each door's answer; its judgement of all others is the one above.
        if (wire !== wireNames[0] || model !== 'agent') continue
        const paths = [save('receipt.json', receipt), save('answer.txt', text)] as const
        const good = await verify(...paths)
        expect([good.code, good.stdout]).toEqual([
          0,
          expect.stringMatching(/✓ content_output/) as never,
        ])
        const bad = await verify(paths[0], save('changed.txt', text.replace(word, other)))
        expect([bad.code, bad.stdout]).toEqual([
          1,
          expect.stringMatching(/✗ content_output/) as never,
        ])
      }
    },
  )

  test('A file without an answer is refused as such.', async () => {
    const json = { model: 'openai/agent', ...doors['chat']?.body }
    const answer = await served.server.call('/v1/chat/completions', { key: served.secret, json })
    const id = answer.headers.get('x-receipt-id')
    const file = await served.server.call(`/v1/receipts/${id}`, { key: served.secret })
    const receipt = save('receipt.json', await file.text())
    const told = await verify(receipt, save('none.txt', '{"error":{}}'))
    expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('not an answer') as never])
  })
})

type Changed = { receipt: string; text: string; word: string; other: string }

/** No place of the answer that says a word can say another one. */
function expectEachWordCounts({ receipt, text, word, other }: Changed): void {
  const { receipt: signed, disclosures } = JSON.parse(receipt)
  const { salt } = disclosures.output
  const holds = (answer: string) =>
    readingsOf(answer).some(
      (value) =>
        checkContent('output', signed.content, { output: { salt, value } }).status === 'pass',
    )
  expect(holds(text)).toBe(true)
  const pieces = text.split(word)
  expect(pieces.length).toBeGreaterThan(1)
  for (let at = 1; at < pieces.length; at++) {
    const changed = pieces.slice(0, at).join(word) + other + pieces.slice(at).join(word)
    expect([at, holds(changed)]).toEqual([at, false])
  }
}
