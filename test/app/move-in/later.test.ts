import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changeKey } from '../../../src/access/keys/change.ts'
import { commandHome } from '../../support/commands.ts'
import { account, channel } from './plans.ts'

setDefaultTimeout(120_000)

describe('the networks of a key in later runs', () => {
  let home: ReturnType<typeof commandHome>
  beforeEach(() => {
    home = commandHome()
  })
  afterEach(() => home.remove())

  const run = (allow_ips: string) => {
    const token = {
      ...{ id: 1, user_id: 1, key: 'made-up-token-1', name: 't1', status: 1, expired_time: -1 },
      ...{ remain_quota: 500_000, unlimited_quota: false, model_limits_enabled: false },
      ...{ model_limits: '', allow_ips, group: '', deleted_at: null },
    }
    const user = { id: 1, username: 'u1', status: 1, quota: 500_000, group: '', deleted_at: null }
    const lists = { users: [user], tokens: [token], channels: [channel], options: [] }
    const file = join(home.folder, 'lists.json')
    writeFileSync(file, JSON.stringify(lists))
    const { code, stdout } = home.run('import', 'new-api', file, '--account', account, '--json')
    expect(code).toBe(0)
    return stdout
  }
  const key = async (networks?: string[]) => {
    await using office = await home.office()
    const rows = await office.keys.list(account, office.clock.now())
    const one = rows.find((row) => row.key.name === 't1')?.key
    if (one && networks) {
      const change = { ipCidrs: networks }
      await changeKey(office, { keyId: one.id, actor: 'operator', change })
    }
    return one?.ipCidrs
  }

  test('Each tightening there is taken, also after those of earlier runs.', async () => {
    for (const networks of ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.128/25']) {
      expect(run(networks)).not.toContain('was raised here')
      expect(await key()).toEqual([networks])
    }
  })

  test('A person who narrowed them keeps later tightenings, and one who widened them does not.', async () => {
    run('10.0.0.0/8')
    await key(['10.1.0.0/16'])
    run('10.1.2.0/24')
    expect(await key()).toEqual(['10.1.2.0/24'])
    await key(['10.1.0.0/16'])
    expect(run('10.1.3.0/24')).toContain('its list of networks was raised here')
    expect(await key()).toEqual(['10.1.0.0/16'])
  })
})
