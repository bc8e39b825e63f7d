import { describe, expect, test } from 'bun:test'
import { outcomeOf } from '../../support/rejection.ts'
import { channel, firstRun, newApi, secondRun } from './plans.ts'
import { readTexts } from './texts.ts'

const token = {
  ...{ id: 1, user_id: 1, key: 'made-up-1', status: 1, expired_time: -1, remain_quota: 500_000 },
  ...{ unlimited_quota: false, model_limits_enabled: false, model_limits: '', allow_ips: '' },
  ...{ group: '', deleted_at: null as string | null },
}
const user = { id: 1, status: 1, quota: 500_000, group: 'default', deleted_at: null }
const read = (channels: object[], abilities: object[] = []) =>
  newApi({ users: [user], tokens: [token], channels, abilities })
const ability = { group: 'default', model: 'cheap', channel_id: 1, enabled: true }

describe('a gateway on which no model can be called', () => {
  test.each([
    ['channel', [{ ...channel, status: 2 }], []],
    ['ability', [channel], [{ ...ability, enabled: false }]],
  ])('No key comes over while no %s is on.', (_, channels, abilities) => {
    const found = read(channels, abilities)
    const { steps } = firstRun(found)
    expect([steps.creates, steps.grants]).toEqual([[], []])
    expect([...found.misfits.keys()].join()).toContain('the group of its user has no model')
    const { present } = firstRun(read([channel], [ability]))
    const { stops } = secondRun(read(channels, abilities), present).steps
    expect(stops.map(({ does }) => does)).toContain('pause')
  })

  test('Users and tokens are refused with a list of channels that is empty.', async () => {
    const lists = { users: [user], tokens: [token], channels: [], options: [] }
    expect(await outcomeOf(readTexts('new-api', lists))).toThrow('its channels are empty')
  })
})
