import { describe, expect, test } from 'bun:test'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StorageFault } from '../../../src/kernel/storage-fault.ts'
import { type StoragePhase, watchStorage } from '../../../src/storage/db/engine/storage.ts'
import { fault, promise } from '../../support/promise.ts'

/** As the driver throws it, and as drizzle wraps that. */
const sqliteError = (code: string) => Object.assign(new Error('a disk said so'), { code })
const wrapped = (code: string) => new Error('Failed query', { cause: sqliteError(code) })

fault`14: the file system becomes read-only → 503, reads go on [faults read-only, faults EROFS]`
describe('what the engine says', () => {
  const cases: [code: string, where: StoragePhase, reason: string | undefined, stops: boolean][] = [
    ['SQLITE_FULL', 'commit', 'storage_full', false],
    ['SQLITE_IOERR_SHMSIZE', 'write', 'storage_full', false],
    ['SQLITE_READONLY', 'write', 'storage_read_only', false],
    ['SQLITE_READONLY_DIRECTORY', 'write', 'storage_read_only', false],
    ['SQLITE_BUSY', 'write', 'storage_busy', false],
    ['SQLITE_CANTOPEN', 'read', 'storage_unreachable', false],
    ['SQLITE_IOERR_READ', 'read', 'storage_unreachable', false],
    ['SQLITE_IOERR_READ', 'write', 'storage_failed', true],
    ['SQLITE_IOERR_WRITE', 'commit', 'storage_failed', true],
    ['SQLITE_IOERR_FSYNC', 'commit', 'storage_failed', true],
    ['SQLITE_CORRUPT', 'read', 'storage_damaged', true],
    ['SQLITE_CORRUPT_INDEX', 'write', 'storage_damaged', true],
    ['SQLITE_NOTADB', 'read', 'storage_damaged', true],
    ['SQLITE_CONSTRAINT_UNIQUE', 'write', undefined, false],
    ['SQLITE_ERROR', 'commit', undefined, false],
  ]
  test.each(cases)('%s in a %s is %s', (code, where, reason, stops) => {
    for (const error of [sqliteError(code), wrapped(code)]) {
      const storage = watchStorage('nowhere.db')
      const fault = storage.faultOf(error, where)
      if (reason === undefined) expect(fault).toBe(error)
      else expect(fault).toMatchObject({ reason, code, cause: error })
      expect(storage.trouble()?.reason).toBe(reason as 'storage_full')
      expect(storage.stopped() !== undefined).toBe(stops)
    }
  })

  test('is over with the next COMMIT, unless nothing may be written any more', () => {
    const told: (string | undefined)[] = []
    const storage = watchStorage('nowhere.db')
    storage.onChange((trouble) => told.push(trouble?.reason))
    storage.wrote()
    for (let i = 0; i < 3; i++) storage.faultOf(sqliteError('SQLITE_FULL'), 'write')
    storage.wrote()
    storage.faultOf(sqliteError('SQLITE_IOERR_FSYNC'), 'commit')
    storage.wrote()
    storage.faultOf(sqliteError('SQLITE_FULL'), 'write')
    expect(told).toEqual(['storage_full', undefined, 'storage_failed'])
    expect(storage.stopped()?.reason).toBe('storage_failed')
  })

  promise`K6`
  test('only the caller of the COMMIT that failed is left in doubt', () => {
    const storage = watchStorage('nowhere.db')
    const fault = storage.faultOf(sqliteError('SQLITE_IOERR_FSYNC'), 'commit') as StorageFault
    expect(fault.message).toContain('Whether it was charged')
    expect(storage.stopped()?.message).toContain('Nothing was stored or charged.')
  })
})

test('what clients read says what holds and names neither the engine nor its files', () => {
  for (const code of ['FULL', 'READONLY', 'BUSY', 'CANTOPEN', 'IOERR', 'CORRUPT']) {
    const fault = watchStorage('nowhere.db').faultOf(sqliteError(`SQLITE_${code}`), 'write')
    expect(fault).toBeInstanceOf(StorageFault)
    const refusal = (fault as StorageFault).toRefusal()
    expect([refusal.status, refusal.type]).toEqual([503, 'unavailable'])
    expect(refusal.message).toContain('Nothing was stored or charged.')
    expect(refusal.message).not.toMatch(/sqlite|nowhere|disk|\//i)
  }
})

describe('the files under a running server', () => {
  const ways: [string, (file: string) => void][] = [
    ['the database is deleted', (file) => rmSync(file)],
    [
      'the database is replaced',
      (file) => {
        writeFileSync(`${file}.new`, 'another')
        renameSync(`${file}.new`, file)
      },
    ],
    ['its log is deleted', (file) => rmSync(`${file}-wal`)],
    ['the index of its log is deleted', (file) => rmSync(`${file}-shm`)],
  ]
  test.each(ways)('%s: no write any more', (_, harm) => {
    const folder = mkdtempSync(join(tmpdir(), 'counterfoil-storage-'))
    const file = join(folder, 'some.db')
    writeFileSync(file, 'a database')
    const storage = watchStorage(file)
    storage.look()
    // The log and its index come later.
    for (const name of ['-wal', '-shm']) writeFileSync(file + name, '')
    storage.look()
    writeFileSync(file, 'a database that grew')
    storage.look()
    expect(storage.trouble()).toBeUndefined()
    harm(file)
    storage.look()
    expect(storage.stopped()?.reason).toBe('storage_moved')
    rmSync(folder, { recursive: true })
  })
})
