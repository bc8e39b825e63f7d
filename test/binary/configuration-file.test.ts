import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { asOrdinaryUser, type Home, makeHome, noBinary, runOrdinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

describe.skipIf(noBinary)('a configuration file that exists and cannot be read', () => {
  let home: Home
  let file = ''
  beforeEach(async () => {
    home = await makeHome()
    file = join(home.folder, 'counterfoil.toml')
  })
  afterEach(() => home?.remove())

  /** Starts a server that must end at once with 78 and leave no data folder behind. */
  async function expectRefused(words: string): Promise<void> {
    const { code, stdout, stderr } = await home.cli('serve')
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(stderr).toContain(file)
    expect(stderr).toContain(words)
    expect(existsSync(home.data)).toBe(false)
  }

  promise`M1 H: A configuration file that exists and cannot be read ends the start: defaults and a
    new signer key never take its place.`
  test('is refused when it is a folder, as Docker makes for a missing mount', async () => {
    rmSync(file)
    mkdirSync(file)
    await expectRefused('this is a folder, not a file')
  })

  promise`M1`
  test('is refused when it is a link to a missing file', async () => {
    rmSync(file)
    symlinkSync('gone.toml', file)
    await expectRefused('this link points to a file that does not exist')
  })

  test('is refused when it is a link to itself', async () => {
    rmSync(file)
    symlinkSync('counterfoil.toml', file)
    await expectRefused('this link leads back to itself')
  })

  promise`M1`
  test.skipIf(!asOrdinaryUser)('is refused when this user may not read it', async () => {
    chmodSync(file, 0)
    chmodSync(home.folder, 0o777)
    const { code, stdout, stderr } = await runOrdinary(home.folder, ['serve'])
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(stderr).toContain(file)
    expect(stderr).toContain('this user may not read it; give it to the user that counterfoil runs')
    expect(existsSync(home.data)).toBe(false)
  })

  promise`M1`
  test('is refused by every command, also when --config names it', async () => {
    rmSync(file)
    mkdirSync(file)
    for (const args of [['key', 'list'], ['doctor'], ['config'], ['migrate', '--config', file]]) {
      const { code, stderr } = await home.cli(...args)
      expect({ args, code }).toEqual({ args, code: 78 })
      expect(stderr).toContain('this is a folder, not a file')
    }
    expect(existsSync(home.data)).toBe(false)
  })

  test('that is missing leaves the defaults in force', async () => {
    rmSync(file)
    const { code, stdout } = await home.cli('config')
    expect(code).toBe(0)
    expect(stdout).toContain('listen = "127.0.0.1:4663"  # default')
  })
})
