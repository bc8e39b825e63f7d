import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, noBinary, someAccount } from '../support/binary.ts'

// Each call of the command is a process, on a busy machine.
setDefaultTimeout(60_000)

const createArgs = ['key', 'create', '--account', someAccount, '--cap', '5.00']

describe.skipIf(noBinary)('commands that change the database', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
  })
  afterAll(() => home?.remove())

  test('a command in another folder says that it made a database of its own', async () => {
    const elsewhere = ['--data', join(home.folder, 'elsewhere')]
    const made = await home.cli(...createArgs, ...elsewhere)
    expect(made.code).toBe(0)
    expect(made.stderr).toContain(join('elsewhere', 'counterfoil.db'))
    expect(made.stderr).toContain('This database is new')
    const granted = await home.cli('grant', someAccount, '1.00', '--reason', 'a', ...elsewhere)
    expect(granted.stderr).toContain(`Written to ${join(home.folder, 'elsewhere')}`)
    expect(granted.stderr).not.toContain('This database is new')
  })

  test('only what talks to a model server needs its key', async () => {
    const path = join(home.folder, 'keyed.toml')
    const upstream = 'id = "far"\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "FAR_KEY"'
    writeFileSync(path, `[[upstreams]]\n${upstream}\nheaders_env = { "x-a" = "FAR_HEADER" }\n`)
    const named = ['--config', path]
    for (const args of [
      createArgs,
      ['grant', someAccount, '1.00', '--reason', 'a'],
      ['key', 'list'],
    ]) {
      expect((await home.cli(...args, ...named)).code).toBe(0)
    }
    for (const args of [['serve'], ['doctor'], ['config']]) {
      const refused = await home.cli(...args, ...named)
      expect([args, refused.code]).toEqual([args, 78])
      expect(refused.stderr).toContain('neither FAR_KEY nor FAR_KEY_FILE is set')
    }
  })
})
