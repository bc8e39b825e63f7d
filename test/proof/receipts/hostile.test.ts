import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type World, world } from '../../support/world.ts'

setDefaultTimeout(60_000)

let w: World
beforeAll(async () => {
  w = await world()
})
afterAll(() => w.stop())

const fileWith = (issuer: string): string =>
  `{"type":"counterfoil.receipt","version":"1","receipt":{"id":"x","issuer":${issuer}}}`
const listOf = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

describe('a receipt file whose issuer is not a text', () => {
  const issuers: [what: string, issuer: string][] = [
    ['a number', '7'],
    ['an object that cannot become text', '{"toString":1,"valueOf":1}'],
    ['a list of lists', listOf(25)],
  ]
  test.each(issuers)(
    'POST /v1/receipts/verify and /verify/chain report it: %s.',
    async (_, issuer) => {
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: fileWith(issuer),
      }
      const answer = await w.call('/v1/receipts/verify', init)
      expect(answer.status).toBe(200)
      const [schema] = (await answer.json()).checks
      expect(schema).toMatchObject({ name: 'schema', status: 'fail' })
      expect(schema.reason).toContain('receipt.issuer: not text')
      const asked = await w.call('/verify/chain', init)
      expect([asked.status, await asked.json()]).toEqual([200, { chain: null }])
    },
  )

  const pasted: typeof issuers = [...issuers, ['a list of lists, 7,900 deep', listOf(7900)]]
  test.each(pasted)('The form of /verify reports it: %s.', async (_, issuer) => {
    const answer = await w.call('/verify', {
      method: 'POST',
      headers: { origin: w.origin, accept: 'text/html' },
      body: new URLSearchParams({ text: fileWith(issuer), signers: '' }),
    })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('receipt.issuer: not text')
  })
})
