import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  binary,
  type Done,
  fund,
  type Home,
  makeHome,
  must,
  noBinary,
  run,
  type Server,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

type Turned = { previous: string; next: string; from_index: number; log_index: number }

describe.skipIf(noBinary)('the life of the signer', () => {
  let home: Home
  let server: Server
  let secret = ''

  beforeAll(async () => {
    home = await makeHome()
    server = await home.start()
    secret = await fund(home, '10.00')
  }, 30_000)
  afterAll(() => home?.remove())

  /** A receipt of a run, kept as a file under a name. */
  const receipt = async (name: string) => {
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    const made = await (await server.call('/v1/runs', { key: secret, json })).json()
    return keep(name, made.receipt.id)
  }
  const keep = async (name: string, id: string) => {
    const text = await (await server.call(`/v1/receipts/${id}`, { key: secret })).text()
    writeFileSync(join(home.folder, name), text)
    return JSON.parse(text)
  }
  const judge = async (json: unknown) => (await server.call('/v1/receipts/verify', { json })).json()
  const rotate = (...args: string[]): Promise<Done> =>
    home.cli('signer', 'rotate', '--reason', 'planned', ...args)
  const rotated = async (): Promise<Turned> =>
    JSON.parse(await must(home, 'signer', 'rotate', '--reason', 'planned', '--json'))

  test('a rotation needs the server stopped and a reason', async () => {
    const busy = await rotate()
    expect([busy.code, busy.stderr]).toEqual([
      1,
      expect.stringContaining('another counterfoil serves the data folder'),
    ])
    expect((await home.cli('signer', 'rotate', '--reason', ' ')).code).toBe(2)
    expect((await home.cli('signer', 'rotate')).code).toBe(2)
    expect(readdirSync(home.data).filter((name) => name.endsWith('.key'))).toEqual(['signer.key'])
  }, 60_000)

  test('a rotation while runs come and go: all receipts are valid, the files are where it says', async () => {
    const before = await receipt('before.json')
    await server.stop()
    const turned = await rotated()
    const old = join(home.data, `signer-${turned.previous}.key`)
    for (const file of [old, join(home.data, 'signer.key')]) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    expect(existsSync(join(home.data, 'signer.next.key'))).toBe(false)
    server = await home.start()
    const after = await receipt('after.json')
    for (const file of [before, after, await keep('again.json', before.receipt.id)]) {
      expect(await judge(file)).toMatchObject({ valid: true, level: 'logged' })
    }
    const cli = (file: string, signer: string) =>
      home.cli('verify', file, '--signer', signer, '--json')
    expect((await cli('before.json', turned.previous)).code).toBe(0)
    expect((await cli('before.json', turned.next)).code).toBe(1)
    expect((await cli('after.json', turned.next)).code).toBe(0)
    expect((await cli('after.json', turned.previous)).code).toBe(1)
    // Both keys named, each for its part of the log: what the old one signs later is worth nothing.
    const parts = [
      `${turned.previous}@0-${turned.from_index}`,
      `${turned.next}@${turned.from_index}-`,
    ]
    const named = parts.flatMap((part) => ['--signer', part])
    const swapped = [
      `${turned.next}@0-${turned.from_index}`,
      `${turned.previous}@${turned.from_index}-`,
    ]
    for (const file of ['before.json', 'after.json', 'again.json']) {
      expect((await home.cli('verify', file, ...named)).code).toBe(0)
      const other = swapped.flatMap((part) => ['--signer', part])
      expect((await home.cli('verify', file, ...other)).code).toBe(1)
    }
    expect((await home.cli('verify', 'after.json', '--signer', `${turned.next}@x`)).code).toBe(2)
    const shown = JSON.parse(await must(home, 'signer', 'show', '--json'))
    expect(shown.data).toMatchObject([
      { address: turned.previous, from_index: 0, until_index: turned.from_index },
      { address: turned.next, from_index: turned.from_index, until_index: null },
    ])
  }, 60_000)

  test('killed at any moment, a rotation has happened or has not, and the next start says which', async () => {
    const file = await receipt('kept.json')
    await server.stop()
    for (const afterMs of [40, 80, 110, 140, 170, 200, 240, 300]) {
      const child = Bun.spawn([binary, 'signer', 'rotate', '--reason', `after ${afterMs} ms`], {
        cwd: home.folder,
        env: { HOME: home.folder, PATH: process.env['PATH'] ?? '' },
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await Bun.sleep(afterMs)
      child.kill('SIGKILL')
      await child.exited
      server = await home.start()
      const { address } = await server.get('/v1/signer')
      const now = await receipt('now.json')
      expect(await judge(now)).toMatchObject({ valid: true, level: 'logged', signer: address })
      expect(await judge(file)).toMatchObject({ valid: true, level: 'logged' })
      await server.stop()
    }
    server = await home.start()
  }, 120_000)

  test('a revocation takes a range that the key has, and names it otherwise', async () => {
    const [first, second] = [await receipt('first.json'), await receipt('second.json')]
    const { from_index: from, log } = await server.get('/v1/signer')
    await server.stop()
    const revoke = (index: number) =>
      home.cli('signer', 'revoke', '--from-index', String(index), '--reason', 'stolen')
    const wrong = await revoke(log.size + 1)
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining(`from an index between ${from + 1} and ${log.size}.`),
    ])
    const done = await revoke(Number(second.proof.index))
    expect(done.code).toBe(0)
    server = await home.start()
    expect(await judge(first)).toMatchObject({ valid: true, level: 'logged' })
    expect(await judge(second)).toMatchObject({ valid: false })
    for (const one of [first, second]) {
      const again = await keep('resigned.json', one.receipt.id)
      expect(await judge(again)).toMatchObject({ valid: true, level: 'logged' })
    }
  }, 60_000)

  test('log reopen issues under the next origin, and old receipts stay valid', async () => {
    const old = await receipt('old.json')
    const busy = await home.cli('log', 'reopen', '--reason', 'test')
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('stop it first')])
    await server.stop()
    const told = JSON.parse(await must(home, 'log', 'reopen', '--reason', 'test', '--json'))
    expect(told.origin).toBe(`${old.receipt.issuer}#2`)
    server = await home.start()
    const made = await receipt('new.json')
    expect(made.receipt.issuer).toBe(told.origin)
    for (const file of [made, old, await keep('again.json', old.receipt.id)]) {
      expect(await judge(file)).toMatchObject({ valid: true, level: 'logged' })
    }
  }, 60_000)

  test('a database that was signed by another key does not start, and nothing is made instead', async () => {
    await server.stop()
    const path = join(home.data, 'signer.key')
    const text = readFileSync(path, 'utf8')
    await Bun.file(path).delete()
    const lost = await run(home.folder, ['serve'])
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining('restore it')])
    expect(existsSync(path)).toBe(false)
    writeFileSync(path, text, { mode: 0o600 })
    server = await home.start()
  }, 60_000)

  promise`H1`
  test('the key of the environment signs, and is not in it any more', async () => {
    await using other = await makeHome()
    const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
    const own = await other.start({ env: { COUNTERFOIL_SIGNER_KEY: key } })
    const { address } = await (await own.call('/v1/signer')).json()
    expect(address).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
    expect(existsSync(join(other.data, 'signer.key'))).toBe(false)
    const printed = [other.printed.stdout, other.printed.stderr]
    for (const file of printed) expect(readFileSync(file, 'utf8')).not.toContain(key)
    await own.stop()
  }, 60_000)
})
