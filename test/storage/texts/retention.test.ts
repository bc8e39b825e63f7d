import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { setRetention } from '../../../src/storage/texts/retain.ts'
import type { Retention } from '../../../src/storage/texts/retention.ts'
import { textStore } from '../../../src/storage/texts/store.ts'
import { pacedModels, startPacedUpstream } from '../../support/paced-upstream.ts'
import { everythingWritten, until } from '../../support/runs.ts'
import { lookedAgain, secondConnection } from '../../support/second-connection.ts'
import { auditsOf, bodyOf, type SharingWorld, saidTo, sharingWorld } from '../../support/sharing.ts'
import { engines, testAccount, usd, world } from '../../support/world.ts'

const start = Date.UTC(2026, 4, 1)
const hour = 3_600_000

for (const engine of engines) {
  describe(`keeping texts on ${engine}`, () => {
    let s: SharingWorld
    beforeAll(async () => {
      s = await sharingWorld(engine, start)
    })
    afterAll(() => s.w.stop())

    const retain = (retention: Retention) =>
      setRetention(s.w.deps, { account: testAccount, retention, actor: 'test' })
    const keptOf = async (id: string) => {
      const { disclosures } = await s.own(id)
      return [disclosures?.input?.value, disclosures?.output?.value]
    }
    const both = (word: string) => [bodyOf(word), saidTo(word)]
    const nothing = [undefined, undefined]

    test('No prompt or answer is stored unless the account asked for it.', async () => {
      const word = 'marmalade-7741'
      const id = await s.ask(word)
      expect(await keptOf(id)).toEqual(nothing)
      const stream = { ...bodyOf(word), stream: true }
      const key = s.secret
      await (await s.w.call('/v1/chat/completions', { key, json: stream })).text()
      await (await s.w.call('/v1/runs', { key, json: { model: stream.model, input: word } })).text()
      const embedded = { model: 'counterfoil/embed-1', input: word }
      await (await s.w.call('/v1/embeddings', { key, json: embedded })).text()
      expect(await everythingWritten(s.w)).not.toContain(word)
    })

    test('24h keeps what went in and came out, streamed or not, and 24 hours later it is gone', async () => {
      await retain('24h')
      const id = await s.ask('kept for a day')
      const streamed = { ...bodyOf('kept too'), stream: true, unknown_field: [1] }
      const answer = await s.w.call('/v1/chat/completions', { key: s.secret, json: streamed })
      await answer.text()
      const other = answer.headers.get('x-receipt-id') ?? ''
      expect(await keptOf(id)).toEqual(both('kept for a day'))
      expect(await keptOf(other)).toEqual([streamed, saidTo('kept too')])
      const file = await s.own(id)
      const verdict = await s.verify(file)
      const content = verdict.checks.filter(({ name }) => name.startsWith('content_'))
      expect(content.map(({ status }) => status)).toEqual(['pass', 'pass'])
      s.w.advance(24 * hour - 1)
      await s.w.deps.texts.dropPast(s.w.deps.clock.now())
      expect(await keptOf(id)).toEqual(both('kept for a day'))
      s.w.advance(1)
      expect(await keptOf(id)).toEqual(nothing)
      await s.w.deps.texts.dropPast(s.w.deps.clock.now())
      expect(await everythingWritten(s.w)).not.toContain('kept')
    })

    test('a list of receipts does not carry texts', async () => {
      await retain('24h')
      await s.ask('not in a list')
      const listed = await s.w.call('/v1/receipts', { key: s.secret })
      expect(await listed.text()).not.toContain('not in a list')
    })

    test('a shorter time holds for what is kept already, a longer one does not', async () => {
      await retain('30d')
      const long = await s.ask('long')
      await retain('24h')
      const short = await s.ask('short')
      await retain('30d')
      s.w.advance(24 * hour - 1)
      expect([await keptOf(long), await keptOf(short)]).toEqual([both('long'), both('short')])
      s.w.advance(1)
      expect([await keptOf(long), await keptOf(short)]).toEqual([nothing, nothing])
    })

    test('none deletes at once what is kept, also more than a batch of it', async () => {
      await retain('30d')
      const ids = await Promise.all(Array.from({ length: 60 }, (_, i) => s.ask(`gone-${i}`)))
      expect(await keptOf(ids[59] ?? '')).toEqual(both('gone-59'))
      await retain('none')
      expect(await keptOf(ids[59] ?? '')).toEqual(nothing)
      expect(await everythingWritten(s.w)).not.toContain('gone-')
    })

    test('none holds for the runs in flight', async () => {
      const stub = await startPacedUpstream()
      const w = await world({ engine, now: start, toml: pacedModels(stub.url) })
      const { secret: key } = await w.key({ balance: 10n * usd })
      const retainThere = (retention: Retention) =>
        setRetention(w.deps, { account: testAccount, retention, actor: 'test' })
      await retainThere('30d')
      const json = { ...bodyOf('in flight'), model: 'stub/endless', stream: true }
      const client = new AbortController()
      const answer = await w.call('/v1/chat/completions', { key, json, signal: client.signal })
      await answer.body?.getReader().read()
      await retainThere('none')
      expect(w.deps.live.count()).toBe(1)
      client.abort()
      await until('its end', () => w.deps.live.count() === 0)
      const written = await everythingWritten(w)
      expect([written.includes('in flight'), written.includes('word0')]).toEqual([false, false])
      await w.stop()
      await stub.stop()
    }, 60_000)

    test('a change in another process is followed within two seconds', async () => {
      const second = secondConnection(s.w.db)
      const other = { ...s.w.deps, texts: textStore(second.db, s.w.deps.clock) }
      await s.ask('remembers that nothing is kept')
      await setRetention(other, { account: testAccount, retention: '24h', actor: 'test' })
      if (s.w.db.exclusive) await lookedAgain()
      else s.w.advance(2000)
      expect(await keptOf(await s.ask('followed'))).toEqual(both('followed'))
      await setRetention(other, { account: testAccount, retention: 'none', actor: 'test' })
      expect(await keptOf(await s.ask('at once'))).toEqual(nothing)
      await second.close()
    })

    test('another account is not concerned', async () => {
      await retain('24h')
      const account = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
      const { secret } = await s.w.key({ account, balance: 1_000_000n })
      await s.ask('of another account', secret)
      expect(await everythingWritten(s.w)).not.toContain('of another account')
    })

    test('every change is in the audit, once', async () => {
      await retain('none')
      const before = (await auditsOf(s.w, testAccount)).length
      for (const retention of ['24h', '24h', 'none'] as const) {
        s.w.advance(1)
        await retain(retention)
      }
      const audits = (await auditsOf(s.w, testAccount)).slice(before)
      expect(audits.map(({ action, detail }) => [action, detail])).toEqual([
        ['retention.set', { from: 'none', to: '24h' }],
        ['retention.set', { from: '24h', to: 'none' }],
      ])
    })
  })
}
