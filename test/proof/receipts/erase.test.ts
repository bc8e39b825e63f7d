import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { runIdOf } from '../../../src/proof/receipts/receipt.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { setRetention } from '../../../src/storage/texts/retain.ts'
import { sectionNames } from '../../../src/verify/receipt.ts'
import { everythingWritten } from '../../support/runs.ts'
import {
  auditsOf,
  bodyOf,
  failedIn,
  type SharingWorld,
  saidTo,
  sharingWorld,
} from '../../support/sharing.ts'
import { engines, testAccount } from '../../support/world.ts'

const disclosed = (word: string) => ({
  visibility: 'unlisted',
  reveal: ['input', 'output'],
  disclosures: { input: { value: bodyOf(word) }, output: { value: saidTo(word) } },
})

for (const engine of engines) {
  describe(`erasing on ${engine}`, () => {
    let s: SharingWorld
    beforeAll(async () => {
      s = await sharingWorld(engine)
      await setRetention(s.w.deps, { account: testAccount, retention: '30d', actor: 'test' })
    })
    afterAll(() => s.w.stop())

    test('seed, kept text and salts go; receipt, signature and proof hold as before', async () => {
      const id = await s.ask('yes')
      const before = await s.own(id)
      expect(before.disclosures?.input?.value).toEqual(bodyOf('yes'))
      const erased = await s.erase(id)
      expect([erased.status, await erased.json()]).toEqual([
        200,
        { object: 'erasure', receipt_id: id, erased_at: expect.stringMatching(/Z$/) },
      ])
      const after = await s.own(id)
      const { disclosures, ...rest } = before
      expect(after.disclosures).toBeUndefined()
      expect({ ...after, proof: undefined }).toEqual({ ...rest, proof: undefined })
      const verdict = await s.verify(after)
      expect([verdict.valid, failedIn(verdict)]).toEqual([true, []])
      expect((await s.w.call(`/v1/receipts/${id}/proof`)).status).toBe(200)
      const text = await everythingWritten(s.w)
      for (const secret of [disclosures?.input?.salt, disclosures?.output?.salt]) {
        expect(text).not.toContain(String(secret))
      }
      const { runs } = s.w.db.tables
      const named = eq(runs.id, runIdOf(id))
      const [run] = await s.w.db.read((q) => rows(q.select().from(runs).where(named)))
      expect([run?.seed.length, run?.output]).toEqual([0, null])
      const listed = await (await s.w.call('/v1/receipts', { key: s.secret })).json()
      const inList = listed.data.find((one: { id: string }) => one.id === id)
      expect([inList.receipt, inList.disclosures]).toEqual([before.receipt, undefined])
    })

    test('a link goes on without its texts, and nothing can be revealed any more', async () => {
      const id = await s.ask('linked')
      await s.share(id, disclosed('linked'))
      expect((await s.shown(id)).disclosures).toBeDefined()
      expect((await s.erase(id)).status).toBe(200)
      const file = await s.shown(id)
      expect([file.disclosures, JSON.stringify(file).includes('linked')]).toEqual([
        undefined,
        false,
      ])
      expect((await s.verify({ id })).valid).toBe(true)
      const again = await s.share(id, disclosed('linked'))
      const { error } = await again.json()
      expect([again.status, error.type, error.param]).toEqual([422, 'unprocessable', 'reveal'])
      for (let set = 0; set < 2 ** sectionNames.length; set++) {
        const sections = sectionNames.filter((_, i) => set & (1 << i))
        await s.share(id, { visibility: 'unlisted', sections })
        const verdict = await s.verify(await s.shown(id))
        expect([verdict.valid, failedIn(verdict)]).toEqual([true, []])
      }
    }, 60_000)

    test('twice is once; the audit has one line, without a text', async () => {
      const id = await s.ask('twice-said')
      const [one, two] = await Promise.all([s.erase(id), s.erase(id)])
      const three = await s.erase(id)
      expect([one.status, two.status, three.status]).toEqual([200, 200, 200])
      const told = await Promise.all([one.json(), two.json(), three.json()])
      expect(new Set(told.map(({ erased_at }) => erased_at)).size).toBe(1)
      const audits = await auditsOf(s.w, id)
      expect(audits.map(({ action, actor }) => [action, actor])).toEqual([
        ['receipt.erase', s.key.id],
      ])
      expect(JSON.stringify(audits)).not.toContain('twice-said')
    })

    test('409 conflict while it is public; afterwards it can be shared again', async () => {
      const id = await s.ask('published')
      await s.share(id, { ...disclosed('published'), visibility: 'public' })
      const refused = await s.erase(id)
      const { error } = await refused.json()
      expect([refused.status, error.type]).toEqual([409, 'conflict'])
      expect(error.message).toContain('Make it private')
      expect((await s.shown(id)).disclosures?.input?.value).toEqual(bodyOf('published'))
      await s.share(id, { visibility: 'private' })
      expect((await s.erase(id)).status).toBe(200)
      expect((await s.share(id, { visibility: 'public' })).status).toBe(200)
      expect((await s.verify({ id })).valid).toBe(true)
      expect((await s.erase(id)).status).toBe(200)
    })

    test('the output of a background run goes too', async () => {
      const { w, secret } = s
      const json = { model: 'counterfoil/echo-1', input: 'in the back', background: true }
      const run = await (await w.call('/v1/runs', { key: secret, json })).json()
      const path = `/v1/runs/${run.id}`
      let seen = run
      while (seen.status === 'queued' || seen.status === 'running') {
        await Bun.sleep(5)
        seen = await (await w.call(path, { key: secret })).json()
      }
      expect(JSON.stringify(seen.output)).toContain('in the back')
      expect((await s.erase(seen.receipt_id)).status).toBe(200)
      const after = await (await w.call(path, { key: secret })).json()
      expect(after.output).toBeUndefined()
      expect(await everythingWritten(w)).not.toContain('in the back')
    })

    test('erasing while someone reveals leaves no text behind', async () => {
      for (let round = 0; round < 10; round++) {
        const id = await s.ask(`race-${round}`)
        await Promise.all([
          s.share(id, disclosed(`race-${round}`)),
          s.erase(id),
          s.share(id, { ...disclosed(`race-${round}`), sections: ['run'] }),
        ])
        expect((await s.shown(id)).disclosures).toBeUndefined()
      }
      expect(await everythingWritten(s.w)).not.toContain('race-')
    }, 60_000)
  })
}
