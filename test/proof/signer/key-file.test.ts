import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyDatabase, postgresServer } from '../../support/postgres.ts'
import { testPrivateKey } from '../../support/world.ts'

const root = join(import.meta.dir, '../../..')
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'key-file-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const namesOf = (start: string) => readdirSync(folder).filter((name) => name.startsWith(start))

/** Containers may have the program and forbid what it does. */
const canTrace =
  Bun.which('strace') !== null &&
  Bun.spawnSync(['strace', '-qq', '-o', '/dev/null', 'true']).exitCode === 0

describe.skipIf(!canTrace)('where a file has but one name', () => {
  /** What a process says that writes a key there, with these calls on its path failing too. */
  const writeKey = async (path: string, ...faults: string[]): Promise<string> => {
    const code = `
      import { writeKeyFile } from './src/proof/signer/key-file.ts'
      try {
        writeKeyFile(${JSON.stringify(path)}, '${testPrivateKey}')
        console.log('written')
      } catch (error) {
        console.log(error.code)
      }`
    const inject = ['link,linkat:error=EPERM', ...faults].flatMap((one) => ['-e', `inject=${one}`])
    const trace = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', path]
    const calls = ['-e', 'trace=link,linkat,write,pwrite64', ...inject]
    const run = Bun.spawn([...trace, ...calls, process.execPath, '-e', code], { cwd: root })
    return (await new Response(run.stdout).text()).trim()
  }

  test('a key is written all the same: 0600, and nothing beside it', async () => {
    const path = join(folder, 'single.key')
    expect(await writeKey(path)).toBe('written')
    expect(readFileSync(path, 'utf8')).toBe(`${testPrivateKey}\n`)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(namesOf('single')).toEqual(['single.key'])
  }, 30_000)

  test('one that the disk had no room for is none: the next start makes another', async () => {
    const path = join(folder, 'full.key')
    expect(await writeKey(path, 'write,pwrite64:error=ENOSPC')).toBe('ENOSPC')
    expect(namesOf('full')).toEqual([])
  }, 30_000)

  test('one that is there stays as it was', async () => {
    const path = join(folder, 'there.key')
    writeFileSync(path, 'mine')
    expect(await writeKey(path)).toBe('EEXIST')
    expect(readFileSync(path, 'utf8')).toBe('mine')
  }, 30_000)
})

describe.skipIf(!postgresServer)('a start on PostgreSQL', () => {
  test('makes away with what one left that was killed while it placed the key', async () => {
    const database = await emptyDatabase()
    const data = join(folder, 'node')
    mkdirSync(data)
    writeFileSync(join(data, 'signer.key'), testPrivateKey, { mode: 0o600 })
    const half = join(data, 'signer.key.new-0123456789abcdef')
    writeFileSync(half, 'half')
    const words = ['serve', '--data', data, '--listen', '127.0.0.1:0']
    const run = Bun.spawn([process.execPath, 'src/main.ts', ...words], {
      cwd: root,
      env: { ...process.env, COUNTERFOIL_DATABASE_URL: database.url },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    try {
      let told = ''
      for await (const text of run.stderr.pipeThrough(new TextDecoderStream())) {
        told += text
        if (told.includes('listens on')) break
      }
      expect(told).toContain('listens on')
      expect(readdirSync(data)).toEqual(['signer.key'])
    } finally {
      run.kill('SIGKILL')
      await run.exited
      await database.drop()
    }
  }, 60_000)
})
