import { afterEach, describe, expect, test } from 'bun:test'
import { cpSync, linkSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import {
  type Done,
  fund,
  grant,
  type Home,
  makeHome,
  must,
  noBinary,
  type Server,
} from '../support/binary.ts'
import { promise } from '../support/promise.ts'

/** The kernel's lock on the database file, which stands when `lock.db` is gone, is Linux's. */
const isLeftOut = noBinary || platform() !== 'linux'

describe.skipIf(isLeftOut)('a second server on one SQLite database', () => {
  let home: Home | undefined
  afterEach(() => home?.remove())

  const start = async () => {
    home = await makeHome()
    const secret = await fund(home, '1.00')
    return { home, secret, first: await home.start() }
  }
  const expectRefused = (second: Done, first: Server) => {
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`another counterfoil serves.*\\(process ${first.pid}\\)`)),
    ])
    expect(second.stderr).not.toContain('    at ')
  }
  const expectServing = async (server: Server, key: string) => {
    const json = { model: 'counterfoil/echo-1', input: 'hello' }
    expect((await server.call('/v1/runs', { key, json })).status).toBe(200)
  }

  promise`N1 H: A second server on the same data folder or the same database file is refused,
    under any name, also after lock.db was deleted.`
  test('is refused after lock.db was deleted, and names the process that runs; that one goes on', async () => {
    const { home, secret, first } = await start()
    expectRefused(await home.cli('serve'), first)
    rmSync(join(home.data, 'lock.db'))
    expectRefused(await home.cli('serve'), first)
    // By then the refused server has made another lock.db.
    expectRefused(await home.cli('serve'), first)
    expectRefused(await home.cli('signer', 'rotate', '--reason', 'planned'), first)
    await expectServing(first, secret)
    // Commands that work beside a server still do.
    await grant(home, '1.00')
    await must(home, 'backup', join(home.folder, 'copy.db'))
    await expectServing(first, secret)
  }, 60_000)

  promise`N1`
  test('is refused under another data folder, by a symbolic link and by a hard link', async () => {
    const { home, secret, first } = await start()
    const database = join(home.data, 'counterfoil.db')
    const linked = join(home.folder, 'linked')
    mkdirSync(linked, { mode: 0o700 })
    cpSync(join(home.data, 'signer.key'), join(linked, 'signer.key'))
    symlinkSync(database, join(linked, 'symbolic.db'))
    linkSync(database, join(linked, 'hard.db'))
    for (const name of [database, join(linked, 'symbolic.db'), join(linked, 'hard.db')]) {
      const url = `sqlite:${name}`
      expectRefused(await home.cli('serve', '--data', linked, '--database-url', url), first)
    }
    await expectServing(first, secret)
  }, 60_000)

  promise`N1`
  test('starts after the first was killed, and on a copy of the folder beside it', async () => {
    const { home, secret, first } = await start()
    rmSync(join(home.data, 'lock.db'))
    await first.stop('SIGKILL')
    const again = await home.start()
    await expectServing(again, secret)
    const copy = join(home.folder, 'copy')
    cpSync(home.data, copy, { recursive: true })
    const other = await home.start({ args: ['--data', copy] })
    for (const server of [again, other]) await expectServing(server, secret)
    for (const server of [again, other]) expect(await server.stop()).toBe(0)
  }, 60_000)
})
