import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectSettled, pricedBuiltins } from '../../support/runs.ts'
import { usd, type World, world } from '../../support/world.ts'
import { clients } from './clients.ts'

const echo = 'counterfoil/echo-1'
const tools = [
  'list_models',
  'run',
  'get_quote',
  'cancel_run',
  'get_receipt',
  'verify_receipt',
  'get_proof',
  'key_self',
  'mint_key',
  'revoke_key',
  'usage',
  'export_usage',
]

let w: World
beforeAll(async () => {
  w = await world({ toml: pricedBuiltins })
})
afterAll(() => w.stop())

for (const [generation, connect] of Object.entries(clients)) {
  describe(`MCP ${generation}, unchanged`, () => {
    const using = async <T>(
      secret: string | undefined,
      work: (client: Awaited<ReturnType<typeof connect>>) => Promise<T>,
    ): Promise<T> => {
      const client = await connect(w.origin, secret)
      try {
        return await work(client)
      } finally {
        await client.close()
      }
    }

    test('lists the tools', async () => {
      const found = await using(undefined, (client) => client.tools())
      expect(found.map(({ name }) => name)).toEqual(tools)
    })

    test('runs a model, reads its receipt and proof, and verifies it', async () => {
      const { secret } = await w.key({ balance: usd })
      await using(secret, async (client) => {
        const asked = { model: echo, input: 'one two three', max_output_tokens: 10 }
        const ran = await client.call('run', asked)
        expect(ran.isError).toBe(false)
        expect(ran.body).toMatchObject({
          object: 'run',
          status: 'succeeded',
          output: [{ message: { role: 'assistant', content: 'one two three' } }],
          // 3 words in at 150,000 pico-USD and 3 out at 600,000: to the nano-dollar.
          cost_nusd: 2250,
          receipt: { cost_nusd: 2250 },
        })
        expect(JSON.parse(ran.text)).toEqual(ran.body)
        const id = ran.body['receipt_id']

        const receipt = await client.call('get_receipt', { id })
        expect(receipt.body).toMatchObject({ type: 'counterfoil.receipt', visibility: 'private' })
        const { visibility: _, ...file } = receipt.body
        const verdict = await client.call('verify_receipt', { receipt: file })
        expect(verdict.body).toMatchObject({ valid: true, level: 'logged', receipt_id: id })
        const proof = await client.call('get_proof', { id })
        expect(proof.body).toMatchObject({ type: 'counterfoil.proof', receipt_id: id })

        const self = await client.call('key_self')
        expect(self.body).toMatchObject({ object: 'key', cap: { spent_nusd: 2250 } })
        const used = await client.call('usage', { group_by: 'model' })
        expect(used.body).toMatchObject({ totals: { runs: 1, cost_nusd: 2250 } })
      })
      await expectSettled(w)
    })

    test('is charged once for a run that it asks for twice', async () => {
      const { secret } = await w.key({ balance: usd })
      await using(secret, async (client) => {
        const asked = { model: echo, input: 'once', max_output_tokens: 5, idempotency_key: 'a b' }
        const first = await client.call('run', asked)
        const again = await client.call('run', asked)
        expect(again.body).toEqual(first.body)
        const used = await client.call('usage')
        expect(used.body).toMatchObject({ totals: { runs: 1 } })
      })
    })

    test('reads without a key what the contract gives everybody', async () => {
      await using(undefined, async (client) => {
        const models = await client.call('list_models')
        expect(models.body).toMatchObject({ object: 'list', data: [{ id: echo }, {}] })
        for (const [tool, args] of [
          ['run', { model: echo, input: 'x' }],
          ['key_self'],
          ['usage'],
        ]) {
          const refused = await client.call(tool as string, args as Record<string, unknown>)
          expect(refused).toMatchObject({ isError: true, body: { error: { type: 'invalid_key' } } })
        }
      })
    })

    test('is refused as under /v1: the same type, message and figures', async () => {
      const { secret } = await w.key({ balance: usd, capLimit: 100n })
      const json = { model: echo, input: 'much too dear', max_output_tokens: 4000 }
      const plain = (await (await w.call('/v1/runs', { key: secret, json })).json()).error
      await using(secret, async (client) => {
        const { isError, body } = await client.call('run', json)
        expect(isError).toBe(true)
        expect(body).toEqual({ error: { ...plain, request_id: expect.stringMatching(/^req_/) } })
        expect(plain.type).toBe('cap_exceeded')
        const unknown = await client.call('run', { model: 'no/such', input: 'x' })
        expect(unknown.body).toMatchObject({ error: { type: 'model_not_found' } })
        const private_ = await client.call('get_receipt', { id: 'rcpt_../keys/self' })
        expect(private_.body).toMatchObject({ error: { type: 'receipt_not_found' } })
      })
    })

    test('is told what is wrong with its arguments, before anything is asked', async () => {
      await using(undefined, async (client) => {
        const wrong = await client.call('get_proof', { id: 5 })
        expect(wrong.isError).toBe(true)
        expect(wrong.text).toContain('id')
        const unknown = await client.call('usage', { form: '2026-01-01' })
        expect(unknown.isError).toBe(true)
      })
    })
  })
}
