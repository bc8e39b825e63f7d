import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { verifyPage } from '../../src/proof/receipts/verify-page.ts'
import { world } from '../support/world.ts'

const root = join(import.meta.dir, '../..')

describe('the verifier for pages', () => {
  test('is at most 20 kB gzipped, whole in itself, and evaluates no text', () => {
    const built = Bun.spawnSync(
      [process.execPath, 'build', 'src/browser/verify.ts', '--target=browser', '--minify'],
      { cwd: root },
    )
    const script = built.stdout.toString()
    expect([built.success, script.length > 10_000]).toEqual([true, true])
    expect(Bun.gzipSync(script, { level: 9 }).byteLength).toBeLessThanOrEqual(20_000)
    expect(script).not.toMatch(/\beval\(|new Function\(|\bWebAssembly\b|\bfetch\(|\bimport\(/)
  })
})

describe('GET /verify.html', () => {
  test('is the offline page as a download, for everybody; its head has no body', async () => {
    const w = await world()
    try {
      const answer = await w.call('/verify.html')
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(answer.headers.get('content-disposition')).toStartWith('attachment; filename=')
      expect(await answer.text()).toBe(verifyPage)
      const head = await w.call('/verify.html', { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect((await w.call('/verify.html', { method: 'POST' })).status).toBe(405)
    } finally {
      await w.stop()
    }
  })
})
