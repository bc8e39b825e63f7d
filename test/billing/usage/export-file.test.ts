import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkExport } from '../../../src/verify/manifest.ts'
import { testAccount, testPrivateKey, type World, world } from '../../support/world.ts'
import { addReceipts } from './receipts.ts'

const main = join(import.meta.dir, '../../../src/main.ts')

describe('export usage --output', () => {
  let w: World
  let folder = ''
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'export-'))
    w = await world()
    const { key } = await w.key()
    const one = { accountId: testAccount, keyId: key.id, finishedAt: Date.now() }
    await addReceipts(w, [one, one, one])
  }, 60_000)
  afterAll(async () => {
    await w.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (file: string, more: string[], env = {}, before: string[] = []) => {
    const { raw } = w.db as unknown as { raw: Database }
    const from = ['--data', folder, '--database-url', `sqlite:${raw.filename}`]
    const words = ['export', 'usage', '--account', testAccount, ...from, '--output', file, ...more]
    const command = [...before, process.execPath, main, ...words]
    const options = { cwd: folder, env: { ...process.env, ...env } }
    const child = Bun.spawn(command, { ...options, stdout: 'ignore', stderr: 'pipe' })
    const told = await new Response(child.stderr).text()
    return { code: await child.exited, told }
  }
  const write = async (name: string, ...before: string[]) => {
    const file = join(folder, name)
    const done = await start(file, ['--no-manifest'], {}, before)
    return { ...done, text: readFileSync(file, 'utf8') }
  }

  test('signs a manifest beside the file, and writes nothing without the key', async () => {
    const file = join(folder, 'signed.csv')
    const refused = await start(file, [])
    expect([refused.code, existsSync(file)]).toEqual([1, false])
    expect(refused.told).toContain('Or use --no-manifest.')
    const { code } = await start(file, [], { COUNTERFOIL_SIGNER_KEY: `0x${testPrivateKey}` })
    expect(code).toBe(0)
    const manifest = JSON.parse(readFileSync(`${file}.manifest.json`, 'utf8'))
    const checks = checkExport({ data: readFileSync(file), manifest }, [{ address: testAccount }])
    const passed = checks.filter(({ status }) => status === 'pass').map(({ name }) => name)
    expect(passed.slice(0, 4)).toEqual(['manifest', 'bytes', 'rows', 'signature'])
  }, 60_000)

  test.skipIf(!Bun.which('prlimit'))(
    'says it when a part could not be written',
    async () => {
      const whole = await write('whole.csv')
      expect(whole.code).toBe(0)
      expect(whole.text.trim().split('\n')).toHaveLength(4)
      const part = await write('part.csv', 'prlimit', `--fsize=${whole.text.length - 10}`)
      expect(part.code).toBe(1)
      expect(part.told).toContain('EFBIG')
      expect(part.told).not.toContain('As of')
    },
    30_000,
  )
})
