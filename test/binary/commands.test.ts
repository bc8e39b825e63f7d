import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../package.json'
import { schemaSteps } from '../../src/storage/db/schema/migrate.ts'
import { neededStep } from '../../src/storage/db/schema/schema-needs.ts'
import {
  expectRefusal,
  grant,
  type Home,
  makeHome,
  makeKey,
  must,
  noBinary,
  type Server,
  someAccount,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

const run = { model: 'counterfoil/echo-1', input: 'hello' }

describe.skipIf(noBinary)('the command line beside a running server', () => {
  let home: Home
  let server: Server
  beforeAll(async () => {
    home = await makeHome(`[[models]]
id = "counterfoil/echo-1"
input_pusd = 0
output_pusd = 0
request_nusd = 1000
`)
    server = await home.start()
  })
  afterAll(() => home?.remove())

  const createArgs = ['key', 'create', '--account', someAccount, '--cap', '5.00']

  test('key create --json prints the key and nothing else; it works at once', async () => {
    const args = ['--name', 'agent', '--expires', '24h', '--window', 'day', '--json']
    const made = await home.cli(...createArgs, ...args)
    expect(made.stderr).toBe('')
    expect(made.stdout.split('\n')).toHaveLength(2)
    const key = JSON.parse(made.stdout)
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      secret: expect.stringMatching(/^sk-service-[0-9A-Za-z]{49}$/),
      fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
      account: expect.any(String),
      cap: { limit_nusd: 5_000_000_000, window: 'day' },
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      database: expect.stringMatching(/^\/.*\/counterfoil\.db$/),
    })
    expect(key.account).toBe(someAccount)
    const hours = (Date.parse(key.expires_at) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23.9)
    expect(hours).toBeLessThanOrEqual(24)
    const self = await server.call('/v1/keys/self', { key: key.secret })
    expect(self.status).toBe(200)
    const account = { address: someAccount }
    expect(await self.json()).toMatchObject({ id: key.id, name: 'agent', account })
  })

  test('without --json stdout is the secret alone', async () => {
    const made = await home.cli(...createArgs)
    expect(made.stdout).toMatch(/^sk-service-[0-9A-Za-z]{49}\n$/)
    expect(made.stderr).toContain('shown only once')
    expect(made.stderr).toMatch(/^Written to \/.*\/counterfoil\.db$/m)
    expect(made.stderr).not.toContain('This database is new')
  })

  test('key list --json is a list of keys, without a secret', async () => {
    const { id, secret } = await makeKey(home, {}, '--name', 'listed')
    const other = await makeKey(home, { account: `0x${'12'.repeat(20)}` })
    const listed = await must(home, 'key', 'list', '--account', someAccount, '--json')
    const { object, data } = JSON.parse(listed)
    expect(object).toBe('list')
    expect(data.find((key: { id: string }) => key.id === id)).toMatchObject({
      object: 'key',
      name: 'listed',
      status: 'usable',
      parent_id: null,
      cap: { limit_nusd: 1_000_000_000_000, window: 'lifetime', spent_nusd: 0, held_nusd: 0 },
    })
    expect(listed).not.toContain(secret)
    expect(listed).not.toContain(other.id)
    expect(await must(home, 'key', 'list')).toContain(`${id}  usable`)
  })

  test('a grant is there with its answer', async () => {
    const account = `0x${'34'.repeat(20)}`
    const { secret: key } = await makeKey(home, { account })
    await expectRefusal(await server.call('/v1/runs', { key, json: run }), 402, insufficient)
    const args = ['grant', account, '0.000002', '--reason', 'first credit', '--json']
    const granted = JSON.parse(await must(home, ...args))
    expect(granted).toMatchObject({ granted_nusd: 2000, balance_nusd: 2000 })
    expect((await server.call('/v1/runs', { key, json: run })).status).toBe(200)
    const balance = await server.call('/v1/balance', { key })
    expect(await balance.json()).toMatchObject({ balance_nusd: 1000, held_nusd: 0 })
  })

  test('a revoked key cannot spend from the answer on, and nothing below it; reads end within 2 s', async () => {
    await grant(home, '1.00')
    const parent = await makeKey(home)
    const child = await makeKey(home, {}, '--parent', parent.id)
    for (const { secret: key } of [parent, child]) {
      expect((await server.call('/v1/runs', { key, json: run })).status).toBe(200)
    }
    const revoked = JSON.parse(await must(home, 'key', 'revoke', parent.id, '--json'))
    expect(revoked).toEqual({ id: parent.id, revoked: true, stopped: 2 })
    for (const { secret: key } of [child, parent]) {
      await expectRefusal(await server.call('/v1/runs', { key, json: run }), 403, 'key_revoked')
    }
    const until = performance.now() + 2000
    for (const { secret: key } of [child, parent]) {
      let answer = await server.call('/v1/keys/self', { key })
      while (answer.status === 200 && performance.now() < until) {
        await Bun.sleep(20)
        answer = await server.call('/v1/keys/self', { key })
      }
      await expectRefusal(answer, 403, 'key_revoked')
    }
    const again = await home.cli('key', 'revoke', parent.id)
    expect(again.code).toBe(0)
  })

  test('migrate has nothing to do', async () => {
    expect(JSON.parse(await must(home, 'migrate', '--json'))).toEqual({ migrated: [] })
  })

  promise`K23 H: The data folder and its files are for their owner alone.`
  test('the data folder is for its owner alone', () => {
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(modeOf(home.data)).toBe('700')
    const names = readdirSync(home.data)
    expect(names).toContain('counterfoil.db')
    expect(names).toContain('signer.key')
    const modes = names.map((name) => [name, modeOf(join(home.data, name))])
    expect(modes).toEqual(names.map((name) => [name, '600']))
  })
})

const insufficient = 'insufficient_balance'

describe.skipIf(noBinary)('a command', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
  })
  afterAll(() => home?.remove())

  const wrong: [line: string, words: string][] = [
    ['nosuch', 'Unknown command "nosuch"'],
    ['mirgate', 'did you mean "migrate"'],
    ['key nosuch', "unknown command 'nosuch'"],
    ['serve --nosuch', "unknown option '--nosuch'"],
    ['serve extra', 'too many arguments'],
    ['key create --cap 1', '--account'],
    [`key create --account ${someAccount}`, '--cap'],
    [`key create --account 0x12 --cap 1`, 'is not an address'],
    [`key create --account ${someAccount} --cap 1,5`, 'not an amount'],
    [`key create --account ${someAccount} --cap -1`, 'not an amount'],
    [`key create --account ${someAccount} --cap 1e3`, 'not an amount'],
    [`key create --account ${someAccount} --cap 0.0000000001`, 'not an amount'],
    [`key create --account ${someAccount} --cap 1 --expires 90`, 'not a duration'],
    [`key create --account ${someAccount} --cap 1 --expires 90days`, 'not a duration'],
    [`key create --account ${someAccount} --cap 1 --window year`, 'not a window'],
    [`key create --account ${someAccount} --cap 1 --scopes all`, 'not a scope'],
    [`grant ${someAccount} 10.00`, '--reason'],
    [`grant ${someAccount} ten --reason x`, 'not an amount'],
    [`grant ${someAccount} 9000000.01 --reason x`, 'not an amount'],
    ['verify', 'receipt.json'],
    ['verify nothing.json', 'cannot be read'],
  ]
  test.each(wrong)('that is wrong ends with 2 and says why: %s', async (line, words) => {
    const done = await home.cli(...line.split(' '))
    expect(done.code).toBe(2)
    expect(done.stderr).toContain(words)
    expect(done.stderr).not.toContain('    at ')
    expect(done.stdout).toBe('')
  })

  test('that asks for what may not be ends with 1 and says why', async () => {
    await grant(home, '9000000.00')
    const create = ['key', 'create', '--account', someAccount, '--cap']
    for (const [args, words] of [
      [[...create, '1.00', '--expires', '400d'], 'expires_at'],
      [[...create, '1.00', '--parent', 'key_00000000000000000000000000'], 'parent_id'],
      [['key', 'revoke', 'key_00000000000000000000000000'], 'no such key'],
      [['grant', someAccount, '0.01', '--reason', 'too much'], 'balance'],
    ] as const) {
      const done = await home.cli(...args)
      expect([args.join(' '), done.code]).toEqual([args.join(' '), 1])
      expect(done.stderr).toContain(words)
      expect(done.stderr.length).toBeGreaterThan(10)
      expect(done.stdout).toBe('')
    }
  })

  test('grant with a blank reason is refused', async () => {
    expect((await home.cli('grant', someAccount, '1.00', '--reason', ' ')).code).toBe(2)
  })

  test('version --json, --version and --help answer on stdout', async () => {
    const told = JSON.parse(await must(home, 'version', '--json'))
    expect(told).toEqual({
      version,
      commit: expect.any(String),
      bun: Bun.version,
      platform: expect.stringMatching(/^(linux|darwin|windows)-/),
      arch: process.arch,
      libc: process.platform === 'linux' ? expect.stringMatching(/^(glibc \d|musl)/) : null,
      curve: expect.stringMatching(/^(native|portable)$/),
      schema: { step: schemaSteps.at(-1), needed: neededStep },
    })
    expect(await must(home, '--version')).toBe(`${version}\n`)
    expect(await must(home, '--help')).toContain('COUNTERFOIL_')
  })

  test('config --explain has every setting; config says where each came from', async () => {
    const explained = await must(home, 'config', '--explain')
    for (const name of ['listen', 'COUNTERFOIL_BASE_URL', '--limits-admission']) {
      expect(explained).toContain(name)
    }
    expect(await must(home, 'config', '--log-level', 'warn')).toMatch(/log\.level.*warn.*flag/)
    const { object, data } = JSON.parse(await must(home, 'config', '--json', '--log-level', 'warn'))
    expect(object).toBe('list')
    expect(data).toContainEqual({ name: 'log.level', value: 'warn', source: 'flag' })
  })

  test('a wrong configuration ends with 78 and names every fault', async () => {
    const bad = await makeHome(`
lissten = "127.0.0.1:1"
base_url = "ftp://example.org"
[limits]
rpm = "many"
[[upstreams]]
id = "x"
base_url = "nonsense"
[[models]]
id = "m/unpriced"
route = ["y:z"]
`)
    try {
      for (const command of [['serve'], ['key', 'list'], ['migrate']]) {
        const done = await bad.cli(...command)
        expect(done.code).toBe(78)
        for (const word of ['mean listen?', 'base_url', 'rpm', 'upstreams', 'm/unpriced']) {
          expect(done.stderr).toContain(word)
        }
        expect(done.stdout).toBe('')
      }
      expect(readdirSync(bad.folder)).toEqual(['counterfoil.toml'])
    } finally {
      await bad.remove()
    }
  })

  promise`K9 H: A lost or empty database is not silently replaced by a new one.`
  test('A lost or empty database is not silently replaced by a new one.', async () => {
    await using lost = await makeHome()
    const server = await lost.start()
    await makeKey(lost)
    await server.stop('SIGKILL')
    const file = join(lost.data, 'counterfoil.db')
    expect(readdirSync(lost.data)).toContain('counterfoil.db-wal')
    await rm(file)
    for (const command of [['serve'], ['key', 'list']]) {
      const done = await lost.cli(...command)
      expect(done.code).toBe(1)
      expect(done.stderr).toContain('is gone')
    }
    writeFileSync(file, '')
    const empty = await lost.cli('serve')
    expect([empty.code, empty.stderr.includes('is empty')]).toEqual([1, true])
    writeFileSync(file, 'this is not a database, despite its name')
    const broken = await lost.cli('serve')
    expect([broken.code, broken.stderr.includes('is not a database')]).toEqual([1, true])
    expect(statSync(file).size).toBeLessThan(100)
  })
})
