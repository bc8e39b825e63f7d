import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { fromHex, toHex } from '../../../src/kernel/hex.ts'
import { commit } from '../../../src/verify/commitment.ts'
import { eventsOf } from '../../support/runs.ts'
import { engines, type World } from '../../support/world.ts'
import { callsOf, type File, hello, type Issuing, issuingWorld } from './api.ts'

const said = {
  index: 0,
  message: { role: 'assistant', content: 'The quick brown fox jumps' },
  finish_reason: 'stop',
}

/** Whether a commitment opens with a value, as anyone computes it who has the salt. */
function opens(file: File, tag: 'input' | 'output', value: unknown): boolean {
  const salt = fromHex(file.disclosures[tag]?.salt ?? '')
  if (!salt) throw new Error('no salt')
  return toHex(commit(`${tag}/v1`, salt, value)) === file.receipt.content[tag]
}

describe.each(engines)('commitments on %s', (engine) => {
  let issuing: Issuing
  let w: World
  let secret: string
  const { chat, fileOf, verify } = callsOf(() => issuing)
  beforeAll(async () => {
    issuing = await issuingWorld(engine)
    ;({ w, secret } = issuing)
  })
  afterAll(() => issuing.stop())

  test('the commitments of a run open with its salts, the exact body and the choices, streamed or not', async () => {
    for (const more of [{ unknown_field: [1, { b: 2 }] }, { stream: true, temperature: 0.1 }]) {
      const answer = await chat('stub/normal', more)
      await answer.text()
      const file = await fileOf(answer.headers.get('x-receipt-id'))
      const body = { model: 'stub/normal', messages: hello, ...more }
      expect(opens(file, 'input', body)).toBe(true)
      expect(opens(file, 'input', { ...body, extra: 1 })).toBe(false)
      expect(opens(file, 'output', [said])).toBe(true)
      expect(opens(file, 'output', [{ ...said, finish_reason: 'length' }])).toBe(false)
      const disclosures = {
        input: { ...file.disclosures.input, value: body },
        output: { ...file.disclosures.output, value: [said] },
      }
      const verdict = await verify({ ...file, disclosures })
      const content = verdict.checks.filter(({ name }) => name.startsWith('content_'))
      expect(content.map(({ status }) => status)).toEqual(['pass', 'pass'])
    }
  })

  test('the commitment of a stream that broke off opens with what was delivered', async () => {
    const answer = await chat('stub/cut-1', { stream: true })
    const events = eventsOf(await answer.text())
    const file = await fileOf(JSON.parse(events.at(-1) ?? '').error.metadata.receipt_id)
    const message = { role: 'assistant', content: 'The' }
    expect(opens(file, 'output', [{ index: 0, message, finish_reason: null }])).toBe(true)
  })

  test('the commitments of embeddings open with the body and the data that was answered', async () => {
    for (const model of ['counterfoil/embed-1', 'stub/embed']) {
      const body = { model, input: ['a', 'b'], encoding_format: 'float' }
      const answer = await w.call('/v1/embeddings', { key: secret, json: body })
      const { data, receipt } = await answer.json()
      const file = await fileOf(receipt.id)
      expect(file.receipt.run.kind).toBe('embedding')
      expect([opens(file, 'input', body), opens(file, 'output', data)]).toEqual([true, true])
    }
  })

  test('the commitments of a native run open with its own body and output', async () => {
    const body = { model: 'stub/normal', input: 'hello', tags: { a: 'b' } }
    const { receipt, output } = await (await w.call('/v1/runs', { key: secret, json: body })).json()
    const file = await fileOf(receipt.id)
    expect([opens(file, 'input', body), opens(file, 'output', output)]).toEqual([true, true])
  })

  test('a run without output commits to none', async () => {
    const file = await fileOf((await chat('stub/status-500')).headers.get('x-receipt-id'))
    expect(file.receipt.content.output).toMatch(/^0x0{64}$/)
    expect(file.disclosures.output).toBeUndefined()
  })
})
