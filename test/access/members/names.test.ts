import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, type World, world } from '../../support/world.ts'
import { actFor, jsonOf, member, type Person, person } from './people.ts'

setDefaultTimeout(60_000)

const owner0 = '0x52908400098527886E0F7030069857D2E4169EE7'
const html = { accept: 'text/html' }

describe.each(engines)('names of members, on %s', (engine) => {
  let w: World
  let owner: Person
  beforeAll(async () => {
    w = await world({ engine })
    owner = await person(w)
  })
  afterAll(() => w.stop())

  const status = async (answer: Promise<Response>) => (await answer).status

  test('An owner names a member; the name stands beside the address, in this account and its audit.', async () => {
    const viewer = await member(w, owner, 'viewer')
    const path = `/api/portal/members/${viewer.wallet}/name`
    const named = await jsonOf(owner.own.call(path, { json: { name: ' Ada <b> ' } }))
    expect(named).toMatchObject({ name: 'Ada <b>', role: 'viewer' })
    const read = async (by: Person) =>
      (await by.own.call('/dashboard/members', { headers: html })).text()
    expect(await read(owner)).toContain('Ada &lt;b&gt;')
    expect(await read(viewer)).toContain('Ada &lt;b&gt;')
    expect(await status(viewer.own.call(path, { json: { name: 'Me' } }))).toBe(403)
    const stranger = await person(w)
    expect(await status(stranger.own.call(path, { json: { name: 'Me' } }))).toBe(404)
    for (const name of ['n'.repeat(41), 'two\nlines']) {
      expect(await status(owner.own.call(path, { json: { name } }))).toBe(400)
    }
    const formType = 'application/x-www-form-urlencoded'
    const form = { method: 'POST', headers: { ...html, 'content-type': formType } } as const
    const wrong = await owner.own.call(path, { ...form, body: `name=${'n'.repeat(41)}` })
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('at most 40')])
    const { auditEntries } = w.db.tables
    const entries = await w.db.read((q) => rows(q.select().from(auditEntries)))
    const noted = entries.filter(({ action }) => action === 'member.rename')
    expect(noted.map(({ actor, subject, detail }) => [actor, subject, detail])).toEqual([
      [owner.wallet, viewer.wallet, { name: 'Ada <b>' }],
    ])
    expect((await jsonOf(owner.own.call(path, { json: { name: '' } }))).name).toBeNull()
  })

  const cut = owner0.slice(2)
  test.each([
    [
      'an address',
      ['0x5290…9EE7', owner0.slice(0, 40), cut.slice(0, 40), '5290...9EE7', '０x5290'],
    ],
    ['a role', ['you', 'Owner', 'Оwner', '0wner', 'the owner', 'Owner (you)', 'Vïewer']],
    [
      'what is not seen',
      ['\u3164', '\u2800\u2800', '\u034f', 'a\u{e0100}b', 'a\u200bb', '\u202eadA'],
    ],
    ['two lines', ['a\u2028b', 'a\nb']],
    ['stacked marks', [`Z${'\u0335\u030d'.repeat(3)}`]],
    ['marks alone', ['-', '...', '\u0301']],
  ])('No name looks like %s.', async (_, names) => {
    const { wallet } = await member(w, owner, 'viewer')
    for (const name of names) {
      const answer = await owner.own.call(`/api/portal/members/${wallet}/name`, { json: { name } })
      expect([name, answer.status]).toEqual([name, 400])
    }
  })

  test('Names of an account differ to the eye, are composed, and stand where a member invited.', async () => {
    const mine = await person(w)
    const one = await member(w, mine, 'owner')
    const two = await member(w, one, 'viewer')
    await actFor(two, mine.wallet)
    const name = (wallet: string, text: string) =>
      mine.own.call(`/api/portal/members/${wallet}/name`, { json: { name: text } })
    const named = await jsonOf(name(one.wallet, 'Jose\u0301\u00a0\u2003 Li'))
    expect(named.name).toBe('José Li')
    for (const text of ['José Li', 'jose li', 'Jоsé-Li', 'José 1i']) {
      expect(await status(name(two.wallet, text))).toBe(400)
    }
    expect(await status(name(one.wallet, 'José Li'))).toBe(200)
    expect(await status(name(two.wallet, 'José Lin 🦊'))).toBe(200)
    const page = await two.own.call('/dashboard/members', { headers: html })
    expect(await page.text()).toMatch(/Invited by<\/dt><dd><strong [^>]*>José Li</)
    const both = await Promise.all([name(one.wallet, 'Twin'), name(two.wallet, 'Twin')])
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 400])
  })
})
