import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../../../src/kernel/canonical.ts'
import { fromHex, toHex } from '../../../src/kernel/hex.ts'
import { setRetention } from '../../../src/storage/texts/retain.ts'
import { commit } from '../../../src/verify/commitment.ts'
import { type ReceiptFile, sectionNames } from '../../../src/verify/receipt.ts'
import { promise } from '../../support/promise.ts'
import { bodyOf, failedIn, type SharingWorld, saidTo, sharingWorld } from '../../support/sharing.ts'
import { engines, testAccount } from '../../support/world.ts'

const everything = { visibility: 'public', sections: [...sectionNames] }

/** Short answers, as requests, as choices, and alone: what someone would try. */
const dictionary: Json[] = ['yes', 'no', 'Yes', 'No', 'YES', 'ja', 'nein', 'maybe', ''].flatMap(
  (word) => [word, bodyOf(word), saidTo(word), [{ role: 'user', content: word }]],
)

/** Every 32 bytes that stand in a file, and none: what could be the salt. */
const saltsIn = (file: unknown): Uint8Array[] => [
  new Uint8Array(),
  new Uint8Array(32),
  ...[...JSON.stringify(file).matchAll(/0x[0-9a-f]{64}/g)].flatMap(([hex]) => fromHex(hex) ?? []),
]

/** What of the dictionary a reader of a file finds in its commitments. */
function guessed(file: ReceiptFile): string[] {
  const { content } = file.receipt
  const committed = '$hash' in content ? [content.$hash] : [content.input, content.output]
  const found: string[] = []
  for (const salt of saltsIn(file)) {
    for (const value of dictionary) {
      for (const tag of ['input/v1', 'output/v1'] as const) {
        const hash = toHex(commit(tag, salt, value))
        if (committed.includes(hash)) found.push(`${tag} ${JSON.stringify(value)}`)
      }
    }
  }
  return found
}

for (const engine of engines) {
  describe(`revealing on ${engine}`, () => {
    let s: SharingWorld
    beforeAll(async () => {
      s = await sharingWorld(engine)
    })
    afterAll(() => s.w.stop())

    promise`G5 H: A public receipt reveals no text, key or address, even by guessing.`
    test('the public form of a "yes" cannot be found by hashing; its owner can show it', async () => {
      const id = await s.ask('yes')
      await s.share(id, everything)
      const file = await s.shown(id)
      expect(saltsIn(file).length).toBeGreaterThan(10)
      expect(guessed(file)).toEqual([])
      const mine = await s.own(id)
      expect(guessed(mine)).toEqual([
        `input/v1 ${JSON.stringify(bodyOf('yes'))}`,
        `output/v1 ${JSON.stringify(saidTo('yes'))}`,
      ])
    })

    test('a revealed text opens its commitment, and tells nothing about the other', async () => {
      const id = await s.ask('yes')
      const disclosures = { input: { value: bodyOf('yes') } }
      const wish = { visibility: 'unlisted', sections: ['run'], reveal: ['input'], disclosures }
      const share = await (await s.share(id, wish)).json()
      expect([share.sections, share.reveal]).toEqual([['run', 'content'], ['input']])
      const file = await s.shown(id)
      expect(file.disclosures).toEqual({
        input: { salt: expect.stringMatching(/^0x/), value: bodyOf('yes') },
      })
      expect(guessed(file)).toEqual([`input/v1 ${JSON.stringify(bodyOf('yes'))}`])
      const verdict = await s.verify({ id })
      expect([verdict.valid, failedIn(verdict)]).toEqual([true, []])
      const passed = verdict.checks.filter(({ status }) => status === 'pass').map((c) => c.name)
      expect(passed).toContain('content_input')
      expect(passed).not.toContain('content_output')
    })

    test('what is shown already need not be handed in again; less takes it away', async () => {
      const id = await s.ask('twice')
      const disclosures = { input: { value: bodyOf('twice') }, output: { value: saidTo('twice') } }
      const both = { visibility: 'unlisted', reveal: ['output', 'input'], disclosures }
      expect((await s.share(id, both)).status).toBe(200)
      const again = await s.share(id, { visibility: 'public', reveal: ['output'] })
      expect((await again.json()).reveal).toEqual(['output'])
      const file = await s.shown(id)
      expect(file.disclosures?.output?.value).toEqual(saidTo('twice'))
      expect(JSON.stringify(file)).not.toContain('"messages"')
      expect((await s.share(id, { visibility: 'public', reveal: ['input'] })).status).toBe(422)
    })

    test('a kept text need not be handed in', async () => {
      await setRetention(s.w.deps, { account: testAccount, retention: '24h', actor: 'test' })
      const id = await s.ask('kept')
      await s.share(id, { visibility: 'public', reveal: ['input', 'output'] })
      const { disclosures } = await s.shown(id)
      expect(disclosures?.input?.value).toEqual(bodyOf('kept'))
      expect(disclosures?.output?.value).toEqual(saidTo('kept'))
      await setRetention(s.w.deps, { account: testAccount, retention: 'none', actor: 'test' })
      expect((await s.shown(id)).disclosures?.input?.value).toEqual(bodyOf('kept'))
      expect((await s.own(id)).disclosures?.input?.value).toBeUndefined()
    })

    test('the data of an embedding can be revealed too', async () => {
      const json = { model: 'counterfoil/embed-1', input: 'x' }
      const answer = await s.w.call('/v1/embeddings', { key: s.secret, json })
      const { receipt, data } = await answer.json()
      const disclosures = { output: { value: data } }
      const wish = { visibility: 'unlisted', reveal: ['output'], disclosures }
      expect((await s.share(receipt.id, wish)).status).toBe(200)
      expect(failedIn(await s.verify(await s.shown(receipt.id)))).toEqual([])
    })

    describe('422 unprocessable', () => {
      test('names the text that is not there, and the one that is another', async () => {
        const id = await s.ask('mine')
        const right = { input: { value: bodyOf('mine') }, output: { value: saidTo('mine') } }
        const wrong: [reveal: string[], disclosures: object, param: string][] = [
          [['input'], {}, 'disclosures.input'],
          [['output'], {}, 'disclosures.output'],
          [['input'], { input: { value: bodyOf('mine!') } }, 'disclosures.input'],
          [['input'], { input: { value: null } }, 'disclosures.input'],
          [['input'], { input: right.output }, 'disclosures.input'],
          [['input', 'output'], { ...right, output: right.input }, 'disclosures.output'],
          [['input', 'output'], { input: right.input }, 'disclosures.output'],
        ]
        for (const [reveal, disclosures, param] of wrong) {
          const answer = await s.share(id, { visibility: 'unlisted', reveal, disclosures })
          const { error } = await answer.json()
          expect([answer.status, error.type, error.param]).toEqual([422, 'unprocessable', param])
          expect(error.message).toContain(param.slice('disclosures.'.length))
          expect(error.message).not.toContain('mine')
        }
        expect((await s.own(id)).visibility).toBe('private')
      })
    })
  })
}
