import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { pricedBuiltins } from '../../support/runs.ts'
import { engines, type World, world } from '../../support/world.ts'
import { arrive, ask, countAll, type Person, shown } from './office.ts'

const noon = Date.UTC(2026, 10, 21, 12)
const dayMs = 86_400_000

describe.each(engines)('a track record on %s', (engine) => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world({ engine, toml: pricedBuiltins, now: noon })
    one = await arrive(w)
  }, 60_000)
  afterAll(() => w.stop())

  const recordOf = async (handle: string) => (await shown(w, handle)).body.track_record

  test('counts what was run after the binding, each receipt once, and money as a band', async () => {
    await one.publish('estuary')
    await ask(w, one.secret)
    await one.post('/estuary/bind', { key_id: one.key.id })
    await countAll(w)
    expect(await recordOf('estuary')).toMatchObject({ runs: 0, spend_band: 'none', models: [] })
    await ask(w, one.secret)
    await ask(w, one.secret)
    await countAll(w)
    await countAll(w)
    const record = await recordOf('estuary')
    expect(record).toMatchObject({
      runs: 2,
      succeeded: 2,
      success_rate_bps: 10_000,
      models: ['counterfoil/echo-1'],
      active_days: 1,
      first_at: '2026-11-21T00:00:00.000Z',
      last_at: '2026-11-21T00:00:00.000Z',
      spend_band: 'under_1_usd',
      public_receipts: 0,
    })
    const { log } = await (await w.call('/v1/status')).json()
    expect(record.as_of_size).toBe(log.size)
  })

  test('moving a key moves no history, and unbinding ends the counting', async () => {
    await one.publish('from-here')
    await one.publish('to-there')
    const { secret, key } = await one.bound('from-here')
    for (let i = 0; i < 3; i++) await ask(w, secret)
    await one.post('/to-there/bind', { key_id: key.id })
    await ask(w, secret)
    await countAll(w)
    expect((await recordOf('from-here')).runs).toBe(3)
    expect((await recordOf('to-there')).runs).toBe(1)
    await one.post('/to-there/unbind', { key_id: key.id })
    await ask(w, secret)
    await countAll(w)
    expect((await recordOf('from-here')).runs).toBe(3)
    expect((await recordOf('to-there')).runs).toBe(1)
  })

  test('what was run before the key moved and is counted after it stays where it was', async () => {
    await one.publish('old-home')
    await one.publish('new-home')
    const { secret, key } = await one.bound('old-home')
    await ask(w, secret)
    await one.post('/new-home/bind', { key_id: key.id })
    await countAll(w)
    expect((await recordOf('old-home')).runs).toBe(1)
    expect((await recordOf('new-home')).runs).toBe(0)
  })

  test('counts receipts that show it to everybody, while they do', async () => {
    await one.publish('shopwindow')
    const { secret } = await one.bound('shopwindow')
    const id = await ask(w, secret)
    const share = (json: object) => w.call(`/v1/receipts/${id}/share`, { key: secret, json })
    const seen = async () => {
      const { body } = await shown(w, 'shopwindow', '?receipts=1')
      return [body.track_record.public_receipts, body.receipts.map((one: { id: string }) => one.id)]
    }
    expect(await seen()).toEqual([0, []])
    const steps: [object, boolean][] = [
      [{ visibility: 'unlisted' }, false],
      [{ visibility: 'public' }, true],
      [{ visibility: 'public', sections: ['run', 'passport'] }, true],
      [{ visibility: 'public', sections: ['run', 'charge'] }, false],
      [{ visibility: 'public', sections: ['passport'] }, true],
      [{ visibility: 'private' }, false],
    ]
    for (const [wish, isSeen] of steps) {
      expect((await share(wish)).status).toBe(200)
      expect(await seen()).toEqual(isSeen ? [1, [id]] : [0, []])
    }
    await share({ visibility: 'public', sections: ['passport'] })
    const { body } = await shown(w, 'shopwindow', '?receipts=1')
    expect(body.receipts[0]).toMatchObject({ model: null, outcome: null, cost_nusd: null })
    expect((await shown(w, 'shopwindow')).body.receipts).toBeUndefined()
  })

  // The last one: sessions end when the days go by.
  test('a day is counted once, however often it was active', async () => {
    await one.publish('calendar')
    const { secret } = await one.bound('calendar')
    for (const pause of [0, 1000, dayMs, 5000, 3 * dayMs]) {
      w.advance(pause)
      await ask(w, secret)
      await countAll(w)
    }
    const record = await recordOf('calendar')
    expect(record).toMatchObject({ runs: 5, active_days: 3 })
    const days = Date.parse(record.last_at) - Date.parse(record.first_at)
    expect(days).toBe(4 * dayMs)
  })
})

describe.each(engines)('what no one learns of a passport on %s', (engine) => {
  let w: World
  let one: Person
  beforeAll(async () => {
    w = await world({ engine, toml: pricedBuiltins })
    one = await arrive(w)
  }, 60_000)
  afterAll(() => w.stop())

  const everywhere = async (handle: string) => {
    const page = { headers: { accept: 'text/html' } }
    const answers = await Promise.all([
      w.call('/v1/passports'),
      w.call(`/v1/passports/${handle}?receipts=1`),
      w.call(`/v1/passports/${handle}?format=erc8004`),
      w.call('/passports', page),
      w.call(`/passports/${handle}`, page),
      w.call(`/passports/${handle}/statement`),
      w.call(`/passports/${handle}/rosette.svg`),
    ])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    return (await Promise.all(answers.map((answer) => answer.text()))).join('\n').toLowerCase()
  }

  test('neither its owner, unless disclosed, nor its keys, costs or private receipts', async () => {
    await one.publish('quiet-one')
    const { secret, key } = await one.bound('quiet-one')
    const id = await ask(w, secret, 'a private question')
    await countAll(w)
    expect((await one.post('/quiet-one/statement')).status).toBe(200)
    const told = await everywhere('quiet-one')
    for (const secretThing of [one.account, key.id, key.fingerprint, id, id.slice(5), '_nusd']) {
      expect(told.includes(secretThing.toLowerCase())).toBe(false)
    }
    await one.post('/quiet-one', { show_owner: true }, 'PATCH')
    expect((await shown(w, 'quiet-one')).body.owner).toBe(one.wallet.address)
    expect(await everywhere('quiet-one')).toContain(one.account)
    await one.post('/quiet-one', { show_owner: false }, 'PATCH')
    expect(await everywhere('quiet-one')).not.toContain(one.account)
  })

  test('one more private run changes counts, never a moment or an amount', async () => {
    await one.publish('still-water')
    const { secret } = await one.bound('still-water')
    await ask(w, secret)
    await countAll(w)
    const before = (await shown(w, 'still-water')).body.track_record
    await ask(w, secret)
    await countAll(w)
    const after = (await shown(w, 'still-water')).body.track_record
    const changed = Object.keys(after).filter((name) => after[name] !== before[name])
    const mayChange = ['as_of_size', 'models', 'runs', 'succeeded']
    // At midnight a day may begin.
    expect(changed.filter((name) => !mayChange.includes(name) && !/day|_at/.test(name))).toEqual([])
    expect(after.models).toEqual(before.models)
  })
})
