import { afterAll, describe, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { openLog, sayingOf } from '../../src/logging.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-log-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What a log writes, as text. */
function written(write: (log: ReturnType<typeof openLog>) => void): string {
  const file = join(folder, crypto.randomUUID())
  const fd = openSync(file, 'w')
  write(openLog({ level: 'debug', format: 'json', fd }))
  closeSync(fd)
  return readFileSync(file, 'utf8')
}

describe('a failed query', () => {
  const cause = new Error('disk I/O error')
  const failed = new DrizzleQueryError('insert into runs values (?, ?)', ['a prompt', 'x'], cause)

  test('is logged with its text, its cause and its place, without its values', () => {
    const line = written((log) => log.error('request.failed', failed, { request_id: 'req_1' }))
    const { fault, request_id } = JSON.parse(line)
    expect(request_id).toBe('req_1')
    expect(fault).toContain('insert into runs values (?, ?)')
    expect(fault).toContain('caused by Error: disk I/O error')
    expect(fault).toMatch(/\n +at /)
    expect(line).not.toContain('a prompt')
    const wrapped = new Error('outer', { cause: failed })
    expect(written((log) => log.error('e', wrapped))).not.toContain('a prompt')
  })

  test('is said on the command line without its values too', () => {
    expect(sayingOf(failed)).toBe('Failed query: insert into runs values (?, ?): disk I/O error')
    expect(sayingOf(new Error('no way to postgres://me:hunter2@db/x'))).not.toContain('hunter2')
  })
})

describe('the fields of a line', () => {
  test('are redacted at any depth, and whatever they hold, the line is written', () => {
    const fields = { list: ['Bearer abc\\', { at: 'sk-service-abc' }], amount: 5n, none: undefined }
    const line = written((log) => log.info('event', fields))
    expect(JSON.parse(line)).toMatchObject({
      msg: 'event',
      list: ['Bearer [redacted]', { at: 'sk-service-[redacted]' }],
      amount: '5',
    })
  })
})
