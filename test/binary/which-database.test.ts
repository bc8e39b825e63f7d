import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Home, makeHome, noBinary, someAccount } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

// Each call of the command is a process, on a busy machine.
setDefaultTimeout(60_000)

/** One of every command that works on a database. */
const changing = [
  ['key', 'create', '--account', someAccount, '--cap', '5.00'],
  ['key', 'list'],
  ['grant', someAccount, '1.00', '--reason', 'a'],
  ['vouchers', 'create', '--amount', '5.00', '--count', '2', '--expires', '30d'],
  ['admin', 'token', 'create', '--scopes', 'health:read'],
  ['deposits', 'status'],
  ['receipt', 'share', 'rcp_00000000000000000000000000'],
  ['anchor', 'status'],
  ['signer', 'show'],
  ['signer', 'rotate', '--reason', 'a'],
  ['log', 'export', 'exported'],
  ['log', 'reopen', '--reason', 'a'],
  ['export', 'usage', '--account', someAccount, '--format', 'csv'],
  ['margins'],
  ['models', 'calibrate'],
  ['backup', 'copy.db'],
  ['migrate', '--status'],
]

const createArgs = ['key', 'create', '--account', someAccount, '--cap', '5.00']

describe.skipIf(noBinary)('commands that change the database', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
  })
  afterAll(() => home?.remove())

  promise`T12 C: No command but serve, restore and migrate makes a database, so money never goes to
    one that is not served.`
  test('no command but serve, restore and migrate makes a database', async () => {
    const folder = join(home.folder, 'elsewhere')
    const elsewhere = ['--data', folder]
    for (const args of changing) {
      const refused = await home.cli(...args, ...elsewhere)
      expect([args, refused.code]).toEqual([args, 78])
      expect(refused.stderr).toContain(`There is no database at ${join(folder, 'counterfoil.db')}`)
      expect(refused.stdout).toBe('')
    }
    expect(existsSync(folder)).toBe(false)
    expect((await home.cli('migrate', ...elsewhere)).code).toBe(0)
    const granted = await home.cli('grant', someAccount, '1.00', '--reason', 'a', ...elsewhere)
    expect(granted.stderr).toContain(`Written to ${folder}`)
  })

  test('a command that finds no database names the server that runs elsewhere', async () => {
    const server = await home.start()
    try {
      const elsewhere = ['--data', join(home.folder, 'beside')]
      const refused = await home.cli('grant', someAccount, '1.00', '--reason', 'a', ...elsewhere)
      expect(refused.code).toBe(78)
      const file = join(home.data, 'counterfoil.db')
      expect(refused.stderr).toContain(
        `process ${server.pid} uses ${file}: started in ${home.folder}`,
      )
      const looked = await home.cli('doctor', ...elsewhere)
      expect(looked.stdout).toContain(`process ${server.pid} uses ${file}`)
    } finally {
      await server.stop()
    }
  })

  test('an address whose checksum does not fit gets neither money nor a key', async () => {
    expect((await home.cli('migrate')).code).toBe(0)
    const slip = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92265'
    const args = [
      ['grant', slip, '1.00', '--reason', 'a'],
      ['key', 'create', '--account', slip, '--cap', '5.00'],
      ['key', 'list', '--account', slip],
      ['admin', 'grant', slip],
      ['deposits', 'assign', 'dep_00000000000000000000000000', slip, '--reason', 'a'],
    ]
    for (const one of args) {
      const refused = await home.cli(...one)
      expect([one, refused.code]).toEqual([one, 2])
      expect(refused.stderr).toContain('checksum')
    }
    expect((await home.cli('grant', slip.toLowerCase(), '1.00', '--reason', 'a')).code).toBe(0)
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
    const shown = await home.cli('config', ...named)
    expect([shown.code, shown.stderr]).toEqual([0, expect.stringContaining('neither FAR_KEY')])
    expect((await home.cli('admin', 'list', ...named)).code).toBe(0)
    for (const args of [['serve'], ['doctor'], ['models', 'check']]) {
      const refused = await home.cli(...args, ...named)
      expect([args, refused.code]).toEqual([args, 78])
      expect(refused.stderr).toContain('neither FAR_KEY nor FAR_KEY_FILE is set')
    }
  })
})
