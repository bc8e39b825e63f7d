import { afterAll, describe, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { openLog, sayingOf } from '../../../src/app/logging.ts'
import { redact } from '../../../src/kernel/redact.ts'
import { promise } from '../../support/promise.ts'

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

  promise`A18`
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
  promise`K18 C: No secret reaches a log or an error, at any level.`
  test('are redacted at any depth, and no matter what they hold, the line is written', () => {
    const fields = { list: ['Bearer abc\\', { at: 'sk-service-abc' }], amount: 5n, none: undefined }
    const line = written((log) => log.info('event', fields))
    expect(JSON.parse(line)).toMatchObject({
      msg: 'event',
      list: ['Bearer [redacted]', { at: 'sk-service-[redacted]' }],
      amount: '5',
    })
  })
})

describe('what must never stand in a log', () => {
  const hex = 'ab'.repeat(32)
  const texts: [what: string, text: string, word: string][] = [
    ['the secret of a key', 'sk-service-0123456789abcdef', '0123456789abcdef'],
    ['the key of an upstream', 'key sk-proj-abcdefghijklmnop was refused', 'abcdefghijklmnop'],
    ['a bearer', 'authorization: Bearer tokentoken', 'tokentoken'],
    ['any other authorization', 'Authorization: Digest0123', 'Digest0123'],
    ['a cookie', 'cookie: a=1; __Host-session=abc_def-123', 'abc_def-123'],
    ['a cookie that is set', 'Set-Cookie: session=abcdefgh; Path=/', 'abcdefgh'],
    ['a session without its header', 'got __Host-session=abc_def-123; then', 'abc_def-123'],
    ['a private key', `0x${hex}`, hex],
    ['a signature', `0x${hex}${hex}1b`, hex],
    ['a password in a URL', 'postgres://me:hunter2@db/x', 'hunter2'],
    ['a token in a query', 'https://rpc.example/?apikey=hunter2&x=1', 'hunter2'],
  ]
  test.each(texts)('%s: in a field, in an error, in what caused it', (_, text, word) => {
    const error = new Error('outer', { cause: new Error(text) })
    for (const line of [
      written((log) => log.debug('event', { deep: [{ text }] })),
      written((log) => log.error('event', new Error(text))),
      written((log) => log.error('event', error, { text })),
    ]) {
      expect(line).toContain('redacted')
      expect(line).not.toContain(word)
    }
  })

  test('Every value in a field of such a name is redacted, prompts too.', () => {
    const names = ['authorization', 'Cookie', 'set-cookie', 'password', 'secret', 'api_key']
    for (const name of [...names, 'apiKey', 'private_key', 'prompt', 'messages']) {
      const line = written((log) => log.info('event', { asked: { [name]: ['keep this private'] } }))
      expect(line).not.toContain('keep this private')
    }
  })

  test('a line break in a text makes no second line', () => {
    const line = written((log) => log.info('event', { text: 'a\n{"level":"error"}\u001b[31m' }))
    expect(line.trimEnd().split('\n')).toHaveLength(1)
    expect(line).not.toContain('\u001b')
  })

  test('what people look for stays: ids, addresses, traces', () => {
    const kept = {
      run_id: 'run_01kg9ys7zhabgbj3f622mb6sj7',
      account: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    }
    expect(JSON.parse(written((log) => log.info('event', kept)))).toMatchObject(kept)
  })
})

describe('texts that strangers send', () => {
  const long: [what: string, text: string][] = [
    ['question marks', '?'.repeat(16_000)],
    ['names of secrets', `?${'key'.repeat(5000)}`],
    ['a word without end', 'a'.repeat(16_000)],
    ['empty lines', '\n'.repeat(16_000)],
    ['beginnings of addresses', 'a://b:'.repeat(2500)],
    ['cookies without a value', 'cookie '.repeat(2000)],
  ]
  test.each(long)('%s take no time worth naming', (_, text) => {
    const before = process.cpuUsage().user
    for (let times = 0; times < 20; times++) redact(text)
    // In µs; a pattern that looks at each place from each other place takes a hundred times that.
    expect(process.cpuUsage().user - before).toBeLessThan(1_000_000)
  })

  test('a text is cut, and no secret at the cut stays', () => {
    const secret = `sk-service-${'A'.repeat(49)}`
    for (const at of [16_300, 16_350, 16_384, 16_400]) {
      const out = redact(`${'x '.repeat(at / 2)}${secret} ${'y'.repeat(100_000)}`)
      expect(out.length).toBeLessThan(16_400)
      expect(out).not.toContain('AAAA')
    }
  })

  test('nor where secrets before it made the text shorter', () => {
    const shortened = `${'b'.repeat(64)} `.repeat(200)
    for (const at of [17_345, 17_360, 17_400]) {
      const out = redact(`${shortened.padEnd(at, '- ')}${'c'.repeat(64)}${' -'.repeat(2000)}`)
      expect(out).toContain('[32 bytes redacted]')
      expect(out).not.toMatch(/[bc]{8}/)
    }
  })

  test('what stands in an address is still hidden', () => {
    expect(redact('get https://me:hunter2@a.example/x?api_key=abc&b=1')).toBe(
      'get https://[redacted]@a.example/x?api_key=[redacted]&b=1',
    )
  })
})
