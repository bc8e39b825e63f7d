import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { sectionNames } from '../../../src/verify/receipt.ts'
import { promise } from '../../support/promise.ts'
import {
  auditsOf,
  bodyOf,
  failedIn,
  otherAccount,
  type SharingWorld,
  sharesOf,
  sharingWorld,
  tellsOf,
  unknownReceipt,
  without,
} from '../../support/sharing.ts'
import { engines, usd } from '../../support/world.ts'

const hashed = { $hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) }

for (const engine of engines) {
  describe(`sharing on ${engine}`, () => {
    let s: SharingWorld
    beforeAll(async () => {
      s = await sharingWorld(engine)
    })
    afterAll(() => s.w.stop())

    describe('who sees what', () => {
      const keys: Record<string, string | undefined> = {}
      beforeAll(async () => {
        const { w } = s
        const top = await w.key({ scopes: [...scopes] })
        const own = await w.key({ parentId: top.key.id, scopes: [...scopes] })
        const below = await w.key({ parentId: own.key.id, scopes: [...scopes] })
        const blind = await w.key({ scopes: without('receipts:read') })
        const wish = { account: otherAccount, scopes: [...scopes], balance: usd }
        Object.assign(keys, {
          keyless: undefined,
          nonsense: 'sk-service-nonsense',
          foreign: (await w.key(wish)).secret,
          blind: blind.secret,
          child: below.secret,
          own: own.secret,
          parent: top.secret,
        })
      })
      const owners = ['own', 'parent']

      test.each(['private', 'unlisted', 'public'])('of a %s receipt', async (visibility) => {
        const id = await s.ask('a secret', keys['own'])
        expect((await s.share(id, { visibility }, keys['own'])).status).toBe(200)
        const seen: Record<string, unknown> = {}
        for (const [who, key] of Object.entries(keys)) {
          const got = await s.get(id, key)
          const file = await got.json()
          const proof = await s.w.call(`/v1/receipts/${id}/proof`, key ? { key } : {})
          const json = { id }
          const verify = await s.w.call('/v1/receipts/verify', key ? { key, json } : { json })
          const all = got.status === 200 && !('$hash' in file.receipt.subject)
          seen[who] = [
            got.status === 404 ? file.error.type : all ? 'all' : 'shared',
            proof.status,
            verify.status === 200 ? (await verify.json()).source : verify.status,
          ]
        }
        const isPrivate = visibility === 'private'
        const others = isPrivate ? 'receipt_not_found' : 'shared'
        const checked = isPrivate ? 404 : 'stored'
        const expected = Object.keys(keys).map((who) => [
          who,
          [owners.includes(who) ? 'all' : others, 200, checked],
        ])
        expect(seen).toEqual(Object.fromEntries(expected))
      })

      test('a list shows each with its visibility, to its owner only', async () => {
        const { secret } = await s.w.key({ scopes: [...scopes] })
        const ids = []
        for (const visibility of ['private', 'unlisted', 'public']) {
          const id = await s.ask('x', secret)
          await s.share(id, { visibility }, secret)
          ids.unshift([id, visibility])
        }
        const listed = await (await s.w.call('/v1/receipts', { key: secret })).json()
        const shown = listed.data.map((r: { id: string; visibility: string }) => [
          r.id,
          r.visibility,
        ])
        expect(shown).toEqual(ids)
      })

      test('Its proof shows hashes, places and the checkpoint, and no part of the run.', async () => {
        const id = await s.ask('a secret')
        const proof = await (await s.w.call(`/v1/receipts/${id}/proof`)).json()
        const { checkpoint, path, leaf, ...rest } = proof
        expect([leaf, ...path].every((hash: string) => /^0x[0-9a-f]{64}$/.test(hash))).toBe(true)
        expect(Object.keys(rest).sort()).toEqual(
          ['anchor', 'index', 'log_id', 'receipt_id', 'size', 'type', 'version'].sort(),
        )
        const { receipt } = await s.own(id)
        const { account, key } = receipt.subject as { account: string; key: string }
        for (const word of [account, key, 'echo', s.key.id]) {
          expect(JSON.stringify(proof)).not.toContain(word)
        }
      })
    })

    describe('200', () => {
      promise`G5`
      test('every subset of sections verifies, and hides the others with their salts', async () => {
        const id = await s.ask('subsets')
        const { receipt } = await s.own(id)
        for (let set = 0; set < 2 ** sectionNames.length; set++) {
          const sections = sectionNames.filter((_, i) => set & (1 << i))
          const hidden = sectionNames.filter((name) => !sections.includes(name))
          expect((await s.share(id, { visibility: 'unlisted', sections })).status).toBe(200)
          const file = await s.shown(id)
          const text = JSON.stringify(file)
          for (const name of sectionNames) {
            expect<unknown>(file.receipt[name]).toEqual(
              hidden.includes(name) ? hashed : receipt[name],
            )
            const { salt } = receipt[name] as { salt?: string }
            if (hidden.includes(name) && salt) expect(text).not.toContain(salt)
          }
          expect(file.disclosures).toBeUndefined()
          const verdict = await s.verify(file)
          expect([verdict.valid, failedIn(verdict), verdict.hidden]).toEqual([true, [], hidden])
          const stored = await s.verify({ id })
          expect([stored.valid, stored.source, stored.hidden]).toEqual([true, 'stored', hidden])
        }
      }, 60_000)

      test('A share shows run, charge and passport by default, and no text.', async () => {
        const id = await s.ask('defaults')
        expect(await (await s.share(id, { visibility: 'public' })).json()).toEqual({
          object: 'share',
          receipt_id: id,
          visibility: 'public',
          sections: ['passport', 'run', 'charge'],
          reveal: [],
          url: `${s.w.origin}/receipts/${id}`,
          created_at: expect.stringMatching(/Z$/),
          updated_at: expect.stringMatching(/Z$/),
        })
        expect((await s.own(id)).visibility).toBe('public')
      })

      promise`G3`
      test('unsharing takes effect at once, also for who has a copy with its tag', async () => {
        const id = await s.ask('taken back')
        await s.share(id, { visibility: 'public' })
        const first = await s.get(id)
        expect(first.headers.get('cache-control')).toBe('no-cache')
        expect(first.headers.get('vary')).toBe('authorization')
        const etag = first.headers.get('etag') ?? ''
        const again = await s.get(id, undefined, { 'if-none-match': `"x", W/${etag}` })
        expect([again.status, await again.text()]).toEqual([304, ''])
        expect([again.headers.get('etag'), again.headers.get('cache-control')]).toEqual([
          etag,
          'no-cache',
        ])
        expect((await s.get(id, s.secret)).headers.get('cache-control')).toBe('no-store')
        const taken = await (await s.share(id, { visibility: 'private' })).json()
        expect(taken).toMatchObject({ visibility: 'private', sections: [], url: null })
        const gone = await s.get(id, undefined, { 'if-none-match': etag })
        expect([gone.status, gone.headers.get('cache-control')]).toEqual([404, 'no-store'])
        expect((await sharesOf(s.w)).map(({ receiptId }) => receiptId)).not.toContain(id)
      })

      test('another choice is another tag', async () => {
        const id = await s.ask('changes')
        await s.share(id, { visibility: 'unlisted' })
        const etag = (await s.get(id)).headers.get('etag') ?? ''
        await s.share(id, { visibility: 'unlisted', sections: ['run'] })
        expect((await s.get(id, undefined, { 'if-none-match': etag })).status).toBe(200)
      })

      test('fifty at once leave one share and one line in the audit', async () => {
        const id = await s.ask('many')
        const wish = { visibility: 'unlisted', sections: ['run'] }
        const answers = await Promise.all(Array.from({ length: 50 }, () => s.share(id, wish)))
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        const kept = (await sharesOf(s.w)).filter(({ receiptId }) => receiptId === id)
        expect(kept).toHaveLength(1)
        expect(await auditsOf(s.w, id)).toHaveLength(1)
      })

      test('every change is in the audit with what it was and is, never with a text', async () => {
        const id = await s.ask('watched words')
        const disclosures = { input: { value: bodyOf('watched words') } }
        await s.share(id, { visibility: 'unlisted', reveal: ['input'], disclosures })
        await s.share(id, { visibility: 'unlisted', reveal: ['input'] })
        await s.share(id, { visibility: 'private' })
        await s.share(id, { visibility: 'private' })
        const none = { visibility: 'private', sections: [], reveal: [] }
        const shown = {
          visibility: 'unlisted',
          sections: ['passport', 'run', 'charge', 'content'],
          reveal: ['input'],
        }
        const audits = await auditsOf(s.w, id)
        expect(audits.map(({ action, actor, detail }) => [action, actor, detail])).toEqual([
          ['receipt.share', s.key.id, { from: none, to: shown }],
          ['receipt.unshare', s.key.id, { from: shown, to: none }],
        ])
        expect(JSON.stringify(audits)).not.toContain('watched')
      })
    })

    describe('404 receipt_not_found', () => {
      promise`A12 C: Other accounts' resources return the same 404 as missing ones.`
      promise`C10`
      promise`G3 C: A private receipt answers like none, and one that is taken back is gone at
        once.`
      test('private, unknown and malformed ids answer alike, no matter who asks', async () => {
        const id = await s.ask('private')
        const stranger = await s.w.key({ account: otherAccount, scopes: [...scopes] })
        const told = new Set<string>()
        for (const asked of [id, unknownReceipt, 'nonsense', id.toUpperCase(), `${id}0`]) {
          for (const key of [undefined, stranger.secret]) {
            told.add(await tellsOf(await s.get(asked, key)))
          }
        }
        expect([...told]).toHaveLength(1)
        const [only = ''] = told
        expect(only).toContain('"vary","authorization"')
      })

      test('for the share and the end of what is another’s, as of what is not there', async () => {
        const id = await s.ask('mine')
        const wish = { account: otherAccount, scopes: [...scopes] }
        const stranger = (await s.w.key(wish)).secret
        const below = await s.w.key({ parentId: s.key.id, scopes: [...scopes] })
        const told = new Set<string>()
        for (const asked of [id, unknownReceipt, 'nonsense']) {
          for (const key of [stranger, below.secret]) {
            for (const answer of [
              await s.share(asked, { visibility: 'public' }, key),
              await s.erase(asked, key),
            ]) {
              expect(answer.status).toBe(404)
              told.add(((await answer.json()) as { error: { type: string } }).error.type)
            }
          }
        }
        expect([...told]).toEqual(['receipt_not_found'])
        const { shares } = s.w.db.tables
        const all = await s.w.db.read((q) => rows(q.select().from(shares)))
        expect(all.map(({ receiptId }) => receiptId)).not.toContain(id)
      })
    })

    test('403 scope_denied without receipts:share, 401 without a key', async () => {
      const id = await s.ask('scoped')
      const { secret } = await s.w.key({ scopes: without('receipts:share') })
      for (const verb of ['share', 'erase']) {
        const path = `/v1/receipts/${id}/${verb}`
        const json = { visibility: 'public' }
        expect((await s.w.call(path, { key: secret, json })).status).toBe(403)
        expect((await s.w.call(path, { json })).status).toBe(401)
      }
    })

    test('400 names what is wrong with a wish', async () => {
      const id = await s.ask('strict')
      const wrong: [object, string | null][] = [
        [{}, 'visibility'],
        [{ visibility: 'secret' }, 'visibility'],
        [{ visibility: 'public', extra: 1 }, 'extra'],
        [{ visibility: 'public', sections: ['all'] }, 'sections.0'],
        [{ visibility: 'public', sections: ['run', 'run'] }, 'sections'],
        [{ visibility: 'public', reveal: ['salt'] }, 'reveal.0'],
        [{ visibility: 'public', disclosures: { input: { salt: '' } } }, 'disclosures.input.value'],
        [{ visibility: 'public', disclosures: { input: { value: 1 } } }, 'disclosures.input'],
      ]
      for (const [json, param] of wrong) {
        const answer = await s.share(id, json)
        const { error } = await answer.json()
        expect([answer.status, error.type, error.param]).toEqual([400, 'invalid_request', param])
      }
      expect((await s.own(id)).visibility).toBe('private')
    })
  })
}
