import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whyOneKey, withAnotherKey } from '../../../src/app/providers/another-key.ts'
import { rawModels, rawUpstreams } from '../../../src/config/model-text.ts'

setDefaultTimeout(60_000)

const main = join(import.meta.dir, '../../../src/main.ts')
const secret = 'gsk_right-and-secret'
const [second, third] = ['gsk_second-and-secret', 'gsk_third-and-secret'] as const

describe('counterfoil provider add --another-key', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-another-key-'))
  const config = join(folder, 'counterfoil.toml')
  const keys = join(folder, 'data/keys')
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const given = request.headers.get('authorization')
      if (![secret, second, third].some((key) => given === `Bearer ${key}`)) {
        return Response.json({ error: {} }, { status: 401 })
      }
      const data = [{ id: 'openai/gpt-oss-120b', context_window: 131_072 }]
      return Response.json({ object: 'list', data })
    },
  })
  const at = `http://127.0.0.1:${server.port}/v1`
  afterAll(() => {
    server.stop(true)
    rmSync(folder, { recursive: true })
  })
  beforeEach(() => rmSync(join(folder, 'data'), { recursive: true, force: true }))

  /** `key` is what GROQ_API_KEY holds. */
  const run = async (key: string, ...args: string[]) => {
    const done = Bun.spawn([process.execPath, main, 'provider', ...args], {
      cwd: join(import.meta.dir, '../../..'),
      env: {
        PATH: process.env['PATH'] ?? '',
        COUNTERFOIL_CONFIG: config,
        COUNTERFOIL_DATA: join(folder, 'data'),
        GROQ_API_KEY: key,
        GROQ_THIRD: third,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all(
      [done.stdout, done.stderr].map((stream) => new Response(stream).text()),
    )
    return { code: await done.exited, stdout: stdout ?? '', stderr: stderr ?? '' }
  }
  const begin = () => writeFileSync(config, '# ours\n')
  const text = () => readFileSync(config, 'utf8')

  test('a second key of an upstream is written beside the first, whose weight stays', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at)
    const models = rawModels(text())
    const other = await run(second, 'add', 'groq', '--at', at)
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--another-key')])
    const wrong = await run('gsk_wrong', 'add', 'groq', '--at', at, '--another-key')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('rejects the key')])
    const same = await run(secret, 'add', 'groq', '--at', at, '--another-key')
    expect([same.code, same.stderr]).toEqual([2, expect.stringContaining('has this key already')])
    const { code, stdout, stderr } = await run(second, 'add', 'groq', '--at', at, '--another-key')
    const file = join(keys, 'groq-2')
    expect([code, stderr]).toEqual([0, expect.stringContaining(file)])
    for (const said of [stdout, stderr, text()]) expect(said).not.toContain(second)
    expect([readFileSync(file, 'utf8').trim(), statSync(file).mode & 0o777]).toEqual([
      second,
      0o600,
    ])
    const [upstream, ...others] = rawUpstreams(text())
    expect([upstream?.['keys'], others]).toEqual([[{ file: join(keys, 'groq') }, { file }], []])
    expect([upstream?.['api_key_file'], rawModels(text())]).toEqual([undefined, models])
    // A third one goes behind those that are there, with their weights.
    writeFileSync(config, text().replace('{ file', '{ weight = 3, file'))
    const named = ['--another-key', '--key-env', 'GROQ_THIRD']
    expect((await run(secret, 'add', 'groq', '--at', at, ...named)).code).toBe(0)
    expect(rawUpstreams(text())[0]?.['keys']).toEqual([
      { weight: 3n, file: join(keys, 'groq') },
      { file },
      { env: 'GROQ_THIRD' },
    ])
  })

  test('a second key is refused where there is no first one', async () => {
    begin()
    const { code, stderr } = await run(secret, 'add', 'groq', '--at', at, '--another-key')
    expect([code, stderr]).toEqual([2, expect.stringContaining('is not there yet')])
    expect(text()).toBe('# ours\n')
  })

  test('a second key is refused where an upstream signs, and stands beside comments', () => {
    const entry = { id: 'a', base_url: 'https://a', api_key_env: 'KEY' }
    expect(whyOneKey(entry)).toBeUndefined()
    expect(whyOneKey({ ...entry, auth: 'sigv4' })).toBe('it signs with its key')
    expect(whyOneKey({ ...entry, attest: {} })).toBe('it signs its answers')
    expect(whyOneKey({ id: 'a', base_url: 'https://a' })).toBe('it has none')
    const file = '[[upstreams]]\nid = "a" # ours\nbase_url = "https://a"\napi_key_env = "KEY"\n'
    expect(withAnotherKey(file, entry, { file: 'keys/a' })).toBe(
      '[[upstreams]]\nid = "a" # ours\nbase_url = "https://a"\n' +
        'keys = [{ env = "KEY" }, { file = "keys/a" }]\n',
    )
  })
})
