import { afterEach, describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { changeKey } from '../../../src/access/keys/change.ts'
import { pauseKey, resumeKey } from '../../../src/access/keys/pause.ts'
import { faultsOf, newAccount, pictureOf } from '../../ledger/office.ts'
import { fault, promise } from '../../support/promise.ts'
import { rejectionOf } from '../../support/rejection.ts'
import { closeAll, freshFile, openFile as open } from './file.ts'

afterEach(closeAll)

describe('another process that writes to the file', () => {
  test('grants, and the next command spends it', async () => {
    const file = freshFile()
    const server = open(file)
    const account = newAccount()
    await server.grant(account, 10n)
    const key = await server.key({ account })
    expect(await rejectionOf(server.hold(key, 15n))).toMatchObject({ type: 'insufficient_balance' })
    await open(file).grant(account, 5n)
    expect(await server.hold(key, 15n)).toMatchObject({ hold: 15n })
    expect(faultsOf(await pictureOf(server.db))).toEqual([])
  })

  test('revokes a key above, and the next hold is refused', async () => {
    const file = freshFile()
    const server = open(file)
    const account = newAccount()
    await server.grant(account, 10n)
    const parent = await server.key({ account })
    const key = await server.key({ account, parentId: parent.id })
    await server.hold(key, 1n)
    await open(file).revoke(parent)
    expect(await rejectionOf(server.hold(key, 1n))).toMatchObject({ type: 'key_revoked' })
  })

  test('narrows a cap, pauses and resumes, and each binds the next hold', async () => {
    const file = freshFile()
    const server = open(file)
    const account = newAccount()
    await server.grant(account, 100n)
    const key = await server.key({ account, capLimit: 100n })
    await server.hold(key, 10n)
    const other = open(file)
    const by = { keyId: key.id, actor: 'test' }
    await changeKey(other, { ...by, change: { capLimit: 15n } })
    expect(await rejectionOf(server.hold(key, 6n))).toMatchObject({ type: 'cap_exceeded' })
    await pauseKey(other, by)
    expect(await rejectionOf(server.hold(key, 1n))).toMatchObject({ type: 'key_paused' })
    await resumeKey(other, by)
    await server.hold(key, 5n)
    // And back: what the other one remembers is as little trusted.
    const asked = changeKey(other, { ...by, change: { capLimit: 14n } })
    expect(await rejectionOf(asked)).toMatchObject({ type: 'conflict' })
    expect(faultsOf(await pictureOf(server.db))).toEqual([])
  })

  test('is the command line: its grant and its revocation count at the next command', async () => {
    const file = freshFile()
    const server = open(file)
    const account = newAccount()
    await server.grant(account, 10n)
    const key = await server.key({ account })
    await server.hold(key, 10n)
    await commandLine(file, 'grant', account, '0.000000005', '--reason', 'a test')
    expect(await server.hold(key, 5n)).toMatchObject({ hold: 5n })
    await commandLine(file, 'key', 'revoke', key.id)
    expect(await rejectionOf(server.hold(key, 0n))).toMatchObject({ type: 'key_revoked' })
    expect(faultsOf(await pictureOf(server.db))).toEqual([])
  }, 20_000)

  promise`D2`
  test('spends beside the server: never more than there is, nothing lost', async () => {
    const file = freshFile()
    const [server, command] = [open(file), open(file)]
    const account = newAccount()
    await server.grant(account, 1000n)
    const key = await server.key({ account })
    let taken = 0
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 6 }, (_, i) => (i % 2 ? server : command).hold(key, 20n))
      asked.push(server.grant(account, 1n).then(() => server.hold(key, 0n)))
      const outcomes = await Promise.allSettled(asked)
      for (const one of outcomes) if (one.status === 'fulfilled' && one.value.hold > 0n) taken++
    }
    expect(taken).toBe(50)
    await command.hold(key, 20n)
    const after = await pictureOf(server.db)
    expect(faultsOf(after)).toEqual([])
    expect(after.accounts).toMatchObject([{ balance: 1020n, held: 1020n }])
  })

  fault`18: another program holds the lock of the database → it is waited for; after the budget 503;
    over by itself [faults lock]`
  test('is waited for while it holds the lock', async () => {
    const file = freshFile()
    const server = open(file)
    const account = newAccount()
    await server.grant(account, 1n)
    const other = open(file)
    other.raw.run('BEGIN IMMEDIATE')
    const waiting = server.grant(account, 1n)
    await Bun.sleep(150)
    other.raw.run("update accounts set balance = 40 where id = ''")
    other.raw.run('COMMIT')
    expect(await waiting).toBe(2n)
  })
})

/** Runs a command of ours as a process of its own, with this file as its database. */
async function commandLine(file: string, ...args: string[]): Promise<void> {
  const data = dirname(file)
  // From the root of the project: Bun takes how to read JSX from the folder it is started in.
  const run = Bun.spawn([process.execPath, 'src/main.ts', ...args, '--data', data], {
    cwd: join(import.meta.dir, '../../..'),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const [code, said] = await Promise.all([run.exited, new Response(run.stderr).text()])
  if (code !== 0) throw new Error(said)
}
