import type { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testAccount, type World, world } from '../support/world.ts'
import { addReceipts } from './receipts.ts'

const main = join(import.meta.dir, '../../src/main.ts')

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

  const write = async (name: string, ...before: string[]) => {
    const { raw } = w.db as unknown as { raw: Database }
    const file = join(folder, name)
    const from = ['--data', folder, '--database-url', `sqlite:${raw.filename}`]
    const words = ['export', 'usage', '--account', testAccount, ...from, '--output', file]
    const command = [...before, process.execPath, main, ...words]
    const child = Bun.spawn(command, { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
    const told = await new Response(child.stderr).text()
    return { code: await child.exited, told, text: readFileSync(file, 'utf8') }
  }

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
