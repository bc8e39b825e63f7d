import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  binary,
  fund,
  type Home,
  makeHome,
  must,
  noBinary,
  run,
  type Server,
  someAccount,
} from '../support/binary.ts'
import { fault, promise } from '../support/promise.ts'
import { type StubUpstream, startStubUpstream } from '../support/stub-upstream.ts'

type Finding = { part: string; status: string; message: string; fix: string | null }

describe.skipIf(noBinary)('looking after a service', () => {
  let home: Home
  let server: Server
  beforeAll(async () => {
    home = await makeHome()
    server = await home.start()
  })
  afterAll(() => home?.remove())

  const examine = async (...args: string[]) => {
    const done = await home.cli('doctor', '--json', ...args)
    const { ok, findings } = JSON.parse(done.stdout) as { ok: boolean; findings: Finding[] }
    const of = (part: string) => findings.filter((one) => one.part === part)
    return { code: done.code, ok, findings, of }
  }

  test('init writes a file that serve accepts, and never over one', async () => {
    const made = await home.cli('init', 'fresh.toml')
    expect([made.code, made.stdout]).toEqual([0, 'fresh.toml\n'])
    const file = join(home.folder, 'fresh.toml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const shown = await must(home, 'config', '--config', 'fresh.toml')
    expect(shown).toContain('listen = "127.0.0.1:4663"  # default')
    writeFileSync(file, 'mine')
    const again = await home.cli('init', 'fresh.toml')
    expect([again.code, again.stdout, readFileSync(file, 'utf8')]).toEqual([1, '', 'mine'])
  })

  test('config --explain says what each value is for and where it came from', async () => {
    const env = { COUNTERFOIL_DATABASE_URL: `sqlite:${home.data}/counterfoil.db` }
    const { stdout } = await run(home.folder, ['config', '--explain', '--limits-rpm', '7'], env)
    expect(stdout).toContain('# --limits-rpm, COUNTERFOIL_LIMITS_RPM\nlimits.rpm = 7  # flag')
    expect(stdout).toContain('database_url = (secret)  # env')
    expect(stdout).toContain('listen = "127.0.0.1:0"  # file')
  })

  test('migrate --status lists what was done, and changes nothing', async () => {
    const state = JSON.parse(await must(home, 'migrate', '--status', '--json'))
    expect(state.pending).toEqual([])
    expect(state.applied.length).toBeGreaterThan(0)
    const elsewhere = await home.cli('migrate', '--status', '--data', './nowhere')
    expect(elsewhere.code).toBe(78)
    expect(existsSync(join(home.folder, 'nowhere'))).toBe(false)
  })

  test('every finding of doctor that is not well names what puts it right', async () => {
    const { code, ok, findings, of } = await examine()
    expect([code, ok]).toEqual([0, true])
    for (const { status, fix } of findings) expect(fix === null).toBe(status === 'ok')
    expect(of('database')).toMatchObject([{ status: 'ok' }])
    expect(of('ledger')).toMatchObject([{ status: 'ok' }])
    expect(of('origin')).toMatchObject([{ status: 'warn' }])
    expect(of('chain')).toMatchObject([{ status: 'warn' }])
    const words = await home.cli('doctor')
    expect([words.code, words.stderr]).toEqual([0, expect.stringContaining('0 to repair')])
  })

  test('doctor asks for a copy of the key and for a backup until there are', async () => {
    const before = await examine()
    const [, copyAsked] = before.of('signer')
    expect(copyAsked?.fix).toStartWith('counterfoil signer copy signer-copy.key')
    expect(before.of('backup')).toMatchObject([{ status: 'warn' }])
    await must(home, 'signer', 'copy', 'signer-copy.key')
    await must(home, 'backup', 'first.db')
    const key = (path: string) => readFileSync(join(home.folder, path), 'utf8')
    expect(key('signer-copy.key')).toBe(key('data/signer.key'))
    expect(statSync(join(home.folder, 'signer-copy.key')).mode & 0o777).toBe(0o600)
    const after = await examine()
    expect(after.of('signer')).toMatchObject([{ status: 'ok' }])
    expect(after.of('backup')).toMatchObject([{ status: 'ok' }])
  })

  test('doctor finds a file that others can read, and its command closes it', async () => {
    const file = join(home.data, 'signer.key')
    chmodSync(file, 0o644)
    const { code, of } = await examine()
    expect(code).toBe(1)
    const [found] = of('files')
    expect(found?.fix).toMatch(/^chmod 600 \S*signer\.key$/)
    const fixed = Bun.spawnSync(['sh', '-c', found?.fix ?? ''], { cwd: home.folder })
    expect(fixed.exitCode).toBe(0)
    expect((await examine()).code).toBe(0)
  })

  test('doctor looks at a folder where nothing is, and leaves nothing there', async () => {
    const { code, of } = await examine('--data', './nowhere')
    expect(code).toBe(0)
    const fix = expect.stringMatching(/^counterfoil serve/)
    expect(of('database')).toMatchObject([{ status: 'warn', fix }])
    expect(existsSync(join(home.folder, 'nowhere'))).toBe(false)
  })

  test('with a wrong configuration doctor lists every fault, and ends with 78', async () => {
    const { code, ok, findings } = await examine('--limits-rpm', 'x', '--listen', 'y')
    expect([code, ok, findings.length]).toEqual([78, false, 2])
  })

  promise`H1`
  test('a backup is one file for its owner, without a key, and never over another', async () => {
    const told = JSON.parse(await must(home, 'backup', 'second.db', '--json'))
    expect(told).toMatchObject({ ledger: 'balanced', log_size: expect.any(Number) })
    const file = join(home.folder, 'second.db')
    expect(told.bytes).toBe(statSync(file).size)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const secret = readFileSync(join(home.data, 'signer.key'), 'utf8').trim()
    const bytes = readFileSync(file)
    expect([bytes.includes(secret), bytes.includes(Buffer.from(secret, 'hex'))]).toEqual([
      false,
      false,
    ])
    const again = await home.cli('backup', 'second.db')
    expect([again.code, again.stderr.includes('already')]).toEqual([1, true])
    expect(readFileSync(file).equals(bytes)).toBe(true)
    expect(readdirSync(home.folder).filter((name) => name.startsWith('.counterfoil'))).toEqual([])
  })

  promise`K11`
  fault`7: killed in the middle of a backup → no part of a copy under its name [faults backup,
    backup]`
  test('killed at any moment, a backup is there whole or not at all', async () => {
    for (let i = 0; i < 6; i++) {
      const name = `killed-${i}.db`
      const child = Bun.spawn([binary, 'backup', name], {
        cwd: home.folder,
        env: { PATH: process.env['PATH'] ?? '' },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await Bun.sleep(100 + i * 60)
      child.kill('SIGKILL')
      await child.exited
      if (!existsSync(join(home.folder, name))) continue
      await must(home, 'restore', name, '--data', `./killed-${i}`)
    }
  })

  test('The restore refuses a running server, existing data and a file that is not a backup.', async () => {
    const running = await home.cli('restore', 'first.db')
    expect([running.code, running.stderr.includes('stop it first')]).toEqual([1, true])
    writeFileSync(join(home.folder, 'junk.db'), 'x'.repeat(5000))
    const junk = await home.cli('restore', 'junk.db', '--data', './other')
    expect([junk.code, junk.stderr.includes('is not a database')]).toEqual([1, true])
    await must(home, 'restore', 'first.db', '--data', './other')
    const twice = await home.cli('restore', 'first.db', '--data', './other')
    expect([twice.code, twice.stderr.includes('already')]).toEqual([1, true])
  })

  promise`K8`
  test('a damaged backup is not restored', async () => {
    const whole = readFileSync(join(home.folder, 'first.db'))
    const broken = Buffer.from(whole)
    broken.fill(0x5a, 8192, 8192 + 4096 * 3)
    writeFileSync(join(home.folder, 'broken.db'), broken)
    const done = await home.cli('restore', 'broken.db', '--data', './third')
    expect(done.code).toBe(1)
    expect(existsSync(join(home.folder, 'third', 'counterfoil.db'))).toBe(false)
  })

  test('on PostgreSQL restore names the tools, without the password', async () => {
    const url = 'postgres://counterfoil:hunter2@127.0.0.1:1/counterfoil'
    const done = await home.cli('restore', 'x.dump', '--database-url', url)
    expect([done.code, done.stdout]).toEqual([1, ''])
    expect(done.stderr).toContain('pg_restore --')
    expect(done.stderr).toContain('postgres://counterfoil@127.0.0.1:1/counterfoil')
    expect(done.stderr).not.toContain('hunter2')
  })

  test('export usage writes the same bytes as the API, with the manifest', async () => {
    const key = await fund(home, '1.00')
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    for (let i = 0; i < 3; i++) await server.call('/v1/runs', { key, json })
    const told = await server.call('/v1/usage/export?format=jsonl', { key })
    const args = ['export', 'usage', '--account', someAccount, '--format', 'jsonl']
    const printed = await must(home, ...args)
    expect(printed.trim().split('\n')).toHaveLength(4)
    expect(await told.text()).toBe(printed)
    const rows = await must(home, ...args, '--no-manifest')
    expect(printed.startsWith(`${rows}{"type":"counterfoil.manifest"`)).toBe(true)
    const { address } = await server.get('/v1/signer')
    const csv = ['--format', 'csv', '--output', 'usage.csv']
    await must(home, 'export', 'usage', '--account', someAccount, ...csv)
    const manifest = ['--manifest', 'usage.csv.manifest.json', '--signer', address]
    expect(await must(home, 'verify', 'usage.csv', ...manifest)).toContain('Verified.')
    // The manifest covers the whole file, also a last line that looks like a manifest.
    const file = readFileSync(join(home.folder, 'usage.csv'), 'utf8')
    const own = readFileSync(join(home.folder, 'usage.csv.manifest.json'), 'utf8')
    const forged = '{"type":"counterfoil.manifest","cost_nusd":99}\n'
    for (const line of [forged, `${JSON.stringify(JSON.parse(own))}\n`]) {
      writeFileSync(join(home.folder, 'forged.csv'), file + line)
      const found = await home.cli('verify', 'forged.csv', ...manifest)
      expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('✗ bytes') as never])
      expect((await home.cli('verify', 'forged.csv', '--signer', address)).code).toBe(2)
    }
    writeFileSync(join(home.folder, 'rows.jsonl'), printed)
    const alone = ['verify', 'rows.jsonl', '--signer', address]
    expect(await must(home, ...alone)).toContain('Verified.')
    writeFileSync(join(home.folder, 'rows.json'), JSON.stringify(JSON.parse(lastLineOf(printed))))
    expect((await home.cli(...alone, '--manifest', 'rows.json')).code).toBe(1)
    writeFileSync(join(home.folder, 'bare.jsonl'), rows)
    const beside = ['bare.jsonl', '--signer', address, '--manifest', 'rows.json']
    expect(await must(home, 'verify', ...beside)).toContain('Verified.')
    const focus = ['--format', 'focus', '--output', 'focus.csv']
    await must(home, 'export', 'usage', '--account', someAccount, ...focus)
    expect(readFileSync(join(home.folder, 'focus.csv'), 'utf8')).toContain('BilledCost')
    const wrong = await home.cli('export', 'usage', '--account', someAccount, '--format', 'xml')
    expect(wrong.code).toBe(2)
  })
})

const lastLineOf = (text: string): string => text.trim().split('\n').at(-1) ?? ''

describe.skipIf(noBinary)('models check', () => {
  let home: Home
  let stub: StubUpstream
  afterAll(async () => {
    await home?.remove()
    await stub?.stop()
  })

  test('says of each upstream whether it answers, and runs nothing', async () => {
    stub = await startStubUpstream()
    home = await makeHome(`[[upstreams]]
id = "there"
base_url = "${stub.url}"
[[upstreams]]
id = "gone"
base_url = "http://127.0.0.1:9/v1"
`)
    const done = await home.cli('models', 'check', '--json')
    expect(done.code).toBe(1)
    const { data } = JSON.parse(done.stdout)
    expect(data).toMatchObject([{ id: 'there' }, { id: 'gone', status: 'refused' }])
    expect(['ok', 'unlisted']).toContain(data[0].status)
    expect(existsSync(home.data)).toBe(false)
    const words = await home.cli('models', 'check')
    expect(words.stdout).toContain('gone  refuses connections: check the port in its base_url')
  })
})
