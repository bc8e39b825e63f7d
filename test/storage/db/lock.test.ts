import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lockDataFolder } from '../../../src/storage/db/files/lock.ts'
import { promise } from '../../support/promise.ts'
import { closeAll, freshFile } from './file.ts'

afterEach(closeAll)

describe('the lock of a data folder', () => {
  test('is held by one at a time, and free again after it', () => {
    const folder = dirname(freshFile())
    const first = lockDataFolder(folder)
    expect(() => lockDataFolder(folder)).toThrow('another counterfoil serves')
    expect(() => lockDataFolder(folder)).toThrow('another counterfoil serves')
    first.release()
    lockDataFolder(folder).release()
  })

  promise`N1`
  test.skipIf(process.platform === 'win32')(
    'is not taken on a read-only file, where it would lock nothing',
    async () => {
      const folder = dirname(freshFile())
      const file = join(folder, 'lock.db')
      new Database(file, { create: true }).close()
      chmodSync(file, 0o444)
      chmodSync(folder, 0o755)
      expect(await lockAsUser(folder)).toContain(`this user may not write ${file}; give it to`)
    },
    20_000,
  )
})

/** What a process says that takes the lock, and is not root, who may write everything. */
async function lockAsUser(folder: string): Promise<string> {
  const script = `
    import { lockDataFolder } from ${JSON.stringify(join(import.meta.dir, '../../../src/storage/db/files/lock.ts'))}
    if (process.getuid() === 0) process.setuid(65534)
    try {
      lockDataFolder(${JSON.stringify(folder)})
      console.log('locked')
    } catch (error) {
      console.log(error.message)
    }`
  const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
  const [said, wrong] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ])
  return said + wrong
}
