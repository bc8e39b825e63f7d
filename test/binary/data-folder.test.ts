import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asOrdinaryUser, type Home, makeHome, noBinary, runOrdinary } from '../support/binary.ts'
import { promise } from '../support/promise.ts'

const commands = [['serve'], ['key', 'list'], ['migrate']]

/** The commands among them that make the folder. */
const making = commands.filter(([name]) => name !== 'key')

describe.skipIf(noBinary)('a data folder that cannot be used', () => {
  let home: Home
  beforeEach(async () => {
    home = await makeHome()
    chmodSync(home.folder, 0o755)
    chmodSync(join(home.folder, 'counterfoil.toml'), 0o644)
  })
  afterEach(() => home?.remove())

  promise`M3 H: A data folder or a PostgreSQL server that cannot be used is named with its path, or
    its host and port, and the remedy; never with a user or a password.`
  test.each(commands)('that is a file ends %s with 78 and stays as it is', async (...command) => {
    writeFileSync(home.data, 'mine')
    const { code, stdout, stderr } = await home.cli(...command)
    expect({ code, stdout, stderr }).toEqual({
      code: 78,
      stdout: '',
      stderr: `data needs a folder, but ${home.data} is a file; name another path, or move the file away\n`,
    })
  })

  test('of database_url that lies below a file ends a start with 78', async () => {
    const file = join(home.folder, 'counterfoil.toml')
    const { code, stderr } = await home.cli('serve', '--database-url', `sqlite:${file}/x.db`)
    expect(code).toBe(78)
    expect(stderr).toBe(
      `database_url needs a folder, but ${file} is a file; name another path, or move the file away\n`,
    )
  })

  describe.skipIf(!asOrdinaryUser)('for lack of permission', () => {
    promise`M3`
    test.each(making)('ends %s with the folder and the remedy', async (...command) => {
      mkdirSync(home.data, { mode: 0o555 })
      const { code, stdout, stderr } = await runOrdinary(home.folder, command)
      expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({
        code: 1,
        stdout: '',
        lines: 2,
      })
      expect(stderr).toStartWith(`cannot write to the folder ${home.data}: this user may not write`)
      expect(stderr).toContain('give it to the user that counterfoil runs as (chown)')
      expect(readdirSync(home.data)).toEqual([])
    })

    promise`M3`
    test.each(making)('ends %s where the folder cannot be made', async (...command) => {
      const { code, stderr } = await runOrdinary(home.folder, command)
      expect(code).toBe(1)
      expect(stderr).toStartWith(
        `cannot make the folder ${home.data}: this user may not write to ${home.folder}; give it`,
      )
      expect(existsSync(home.data)).toBe(false)
    })

    test('is a failure of doctor', async () => {
      mkdirSync(home.data, { mode: 0o555 })
      const { code, stdout } = await runOrdinary(home.folder, ['doctor', '--json'])
      expect(code).toBe(1)
      const { findings } = JSON.parse(stdout) as { findings: Record<string, unknown>[] }
      expect(findings.filter(({ part }) => part === 'files')).toEqual([
        {
          part: 'files',
          status: 'fail',
          message: `The data folder is not writable by this user: ${home.data}.`,
          fix: `chown to the user that counterfoil runs as: ${home.data}`,
        },
      ])
    })

    test("ends a command that may not look into another user's folder, and never says that there is nothing", async () => {
      const server = await home.start()
      await server.stop()
      expect(statSync(home.data).mode & 0o777).toBe(0o700)
      const { code, stderr } = await runOrdinary(home.folder, ['key', 'list'])
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          /^Permission denied: .*counterfoil\.db; run this as the user/,
        ),
      })
    })

    test("ends a command with the path of another user's database", async () => {
      const server = await home.start()
      await server.stop()
      chmodSync(home.data, 0o777)
      const { code, stderr } = await runOrdinary(home.folder, ['key', 'list'])
      const database = join(home.data, 'counterfoil.db')
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr:
          `Permission denied: ${database}; run this as the user that counterfoil runs as, ` +
          'or chown the path to it\n',
      })
    })
  })
})
