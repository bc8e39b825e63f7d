import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, type World, world } from '../../support/world.ts'
import { jsonOf, member, type Person, person } from './people.ts'

setDefaultTimeout(60_000)

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
})
