import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rawModels, rawUpstreams } from '../../../src/config/model-text.ts'

setDefaultTimeout(60_000)

const main = join(import.meta.dir, '../../../src/main.ts')
const secret = 'gsk_right-and-secret'

describe('counterfoil provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-provider-'))
  const config = join(folder, 'counterfoil.toml')
  const keys = join(folder, 'data/keys')
  const models = [
    { id: 'openai/gpt-oss-120b', context_window: 131_072, max_completion_tokens: 65_536 },
    { id: 'llama-3.3-70b-versatile', context_window: 131_072, max_completion_tokens: 32_768 },
    { id: 'brand-new', context_window: 4096 },
  ]
  let listed: object[] = models
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const given = request.headers.get('authorization')
      if (given !== `Bearer ${secret}`) return Response.json({ error: {} }, { status: 401 })
      if (request.method === 'GET') return Response.json({ object: 'list', data: listed })
      const { model } = (await request.json()) as { model: string }
      return Response.json({ id: '1', model, choices: [], usage: {} })
    },
  })
  const at = `http://127.0.0.1:${server.port}/v1`
  afterAll(() => {
    server.stop(true)
    rmSync(folder, { recursive: true })
  })
  beforeEach(() => {
    listed = models
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
  })

  /** `key` is what GROQ_API_KEY holds. */
  const run = async (key: string | undefined, ...args: string[]) => {
    const done = Bun.spawn([process.execPath, main, 'provider', ...args], {
      cwd: join(import.meta.dir, '../../..'),
      env: {
        PATH: process.env['PATH'] ?? '',
        COUNTERFOIL_CONFIG: config,
        COUNTERFOIL_DATA: join(folder, 'data'),
        ...(key === undefined ? {} : { GROQ_API_KEY: key }),
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

  test('adds a provider with prices of its data, and keeps the key in a file of its own', async () => {
    begin()
    const { code, stdout, stderr } = await run(secret, 'add', 'groq', '--at', at, '--markup', '10%')
    expect([code, stderr]).toEqual([0, expect.stringContaining('2 new models')])
    expect(stdout).toContain('openai/gpt-oss-120b  $0.165 / M in, $0.66 / M out')
    expect(stderr).toContain('No price is published of brand-new')
    expect(text()).toStartWith('# ours\n')
    expect(rawUpstreams(text())).toMatchObject([{ id: 'groq', base_url: at }])
    expect(rawModels(text())).toMatchObject([
      {
        ...{ id: 'openai/gpt-oss-120b', input: '$0.165/M', output: '$0.66/M' },
        route: [{ to: 'groq:openai/gpt-oss-120b', cost: { input: '$0.15/M', output: '$0.60/M' } }],
      },
      { id: 'groq/llama-3.3-70b-versatile', context_tokens: 131_072n },
    ])
    const file = join(keys, 'groq')
    expect([readFileSync(file, 'utf8').trim(), statSync(file).mode & 0o777]).toEqual([
      secret,
      0o600,
    ])
    for (const said of [stdout, stderr, text()]) expect(said).not.toContain(secret)
  })

  test('changes nothing when the provider rejects the key, and says where keys are made', async () => {
    begin()
    const { code, stderr } = await run('gsk_wrong', 'add', 'groq', '--at', at)
    expect(code).toBe(1)
    expect(stderr).toContain('Groq rejects the key')
    expect(stderr).toContain('https://console.groq.com/keys')
    expect(readdirSync(folder)).toEqual(['counterfoil.toml'])
    expect(text()).toBe('# ours\n')
  })

  test('asks for a price that nothing publishes instead of guessing one', async () => {
    begin()
    const only = ['--at', at, '--models', 'brand-*']
    const { code, stderr } = await run(secret, 'add', 'groq', ...only)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('add --models, --input and --output'),
    ])
    expect(text()).toBe('# ours\n')
    await run(secret, 'add', 'groq', ...only, '--input', '$1/M', '--output', '2')
    expect(rawModels(text())).toMatchObject([
      { id: 'groq/brand-new', input: '$1.00/M', output: '$2.00/M', context_tokens: 4096n },
    ])
  })

  test('a second call adds what is new and leaves the rest and its key as they are', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--models', 'llama-*')
    const before = text()
    const { stderr } = await run(secret, 'add', 'groq', '--at', at)
    expect(stderr).toContain('1 new models')
    expect(text()).toStartWith(before.trimEnd())
    expect(readdirSync(keys)).toEqual(['groq'])
  })

  test('the same provider twice is two upstreams with a key each', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--models', 'llama-*')
    const more = ['--id', 'groq-eu', '--models', 'openai/*']
    expect((await run(secret, 'add', 'groq', '--at', at, ...more)).code).toBe(0)
    expect(rawUpstreams(text()).map(({ id }) => String(id))).toEqual(['groq', 'groq-eu'])
    expect(readdirSync(keys).sort()).toEqual(['groq', 'groq-eu'])
  })

  test('names of a list that could break a line or a file are left out, and two of one id are one', async () => {
    begin()
    const context_window = 4096
    const odd = ['x\ud800y', 'x\u202ey', 'x\u2028y', 'x\u001by']
    listed = [
      ...odd.map((display_name, i) => ({ id: `odd-${i}`, display_name, context_window })),
      { id: 'groq/odd-0', context_window },
      { id: 'x"\n[[plans]]', context_window },
    ]
    const prices = ['--input', '$1/M', '--output', '$2/M']
    expect(await run(secret, 'add', 'groq', '--at', at, ...prices)).toMatchObject({ code: 0 })
    const ids = odd.map((_, i) => `groq/odd-${i}`)
    expect(rawModels(text()).map(({ id, name }) => [id, name])).toEqual(
      ids.map((id) => [id, undefined]),
    )
  })

  test('a list that says zero gives no model away', async () => {
    begin()
    listed = [{ id: 'own/hourly', pricing: { input: 0, output: 0 }, context_length: 4096 }]
    writeFileSync(join(folder, 'key'), secret)
    const file = ['--key-file', join(folder, 'key')]
    const { code, stderr } = await run(undefined, 'add', 'together', '--at', at, ...file)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('No price is published of own/hourly'),
    ])
    expect(text()).toBe('# ours\n')
  })

  test('a key or an id that cannot be one is refused, and no key stays without its upstream', async () => {
    begin()
    const twoLines = await run(`${secret}\nmore`, 'add', 'groq', '--at', at)
    expect([twoLines.code, twoLines.stderr]).toEqual([
      2,
      expect.stringContaining('GROQ_API_KEY holds no key'),
    ])
    for (const id of ['../../x', 'a:b', '']) {
      expect((await run(secret, 'add', 'groq', '--at', at, '--id', id)).code).toBe(2)
    }
    // Another command is about to write the file, however long this one takes to begin.
    writeFileSync(`${config}.new`, '')
    const later = Date.now() / 1000 + 3600
    utimesSync(`${config}.new`, later, later)
    const late = await run(secret, 'add', 'groq', '--at', at)
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('Try again')])
    expect([text(), readdirSync(keys)]).toEqual(['# ours\n', []])
  })

  test('commands at once never undo each other: each says whether it is in the file', async () => {
    begin()
    const names = ['groq', 'groq-b', 'groq-c']
    const ended = await Promise.all(
      names.map((id, i) => {
        const models = ['--models', ['openai/*', 'llama-*', 'brand-*'][i] ?? '']
        const prices = ['--input', '$1/M', '--output', '$2/M']
        return run(secret, 'add', 'groq', '--at', at, '--id', id, ...models, ...prices)
      }),
    )
    const done = names.filter((_, i) => ended[i]?.code === 0)
    const there = rawUpstreams(text()).map(({ id }) => String(id))
    expect(there.sort()).toEqual(done)
    expect(readdirSync(keys).sort()).toEqual(done)
    expect(done.length).toBeGreaterThan(0)
  })

  test('leaves the key in a variable that the operator names', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--key-env', 'GROQ_API_KEY')
    expect(rawUpstreams(text())).toMatchObject([{ api_key_env: 'GROQ_API_KEY' }])
    expect(readdirSync(folder).sort()).toEqual(['counterfoil.toml', 'counterfoil.toml.1'])
    expect(readFileSync(`${config}.1`, 'utf8')).toBe('# ours\n')
  })

  test('a dry run prints the entries and writes nothing', async () => {
    begin()
    const { code, stdout } = await run(secret, 'add', 'groq', '--at', at, '--dry-run')
    expect([code, rawModels(stdout).length]).toEqual([0, 2])
    expect([text(), readdirSync(folder)]).toEqual(['# ours\n', ['counterfoil.toml']])
  })

  test('names a provider that is meant, a setting that is missing, and a key that is', async () => {
    begin()
    expect((await run(secret, 'add', 'grok')).stderr).toContain('Did you mean groq?')
    expect((await run(undefined, 'add', 'bedrock')).stderr).toContain('--set region=…')
    const { code, stderr } = await run(undefined, 'add', 'groq', '--at', at)
    expect([code, stderr]).toEqual([2, expect.stringContaining('Set GROQ_API_KEY or name a file')])
  })

  test('tests the upstreams, with a paid call where it may', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at)
    expect((await run(undefined, 'test')).stdout).toBe('groq  responds\n')
    const { code, stdout } = await run(undefined, 'test', 'groq', '--spend')
    expect([code, stdout]).toEqual([0, 'groq  responds; openai/gpt-oss-120b answers\n'])
    expect((await run(undefined, 'test', 'none')).code).toBe(2)
  })

  test('a refresh shows a changed price at the same markup, and models that came or went', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--markup', '10%')
    const older = text().replaceAll('"$0.59/M"', '"$0.50/M"').replaceAll('"$0.649/M"', '"$0.55/M"')
    writeFileSync(config, older)
    listed = models.slice(1)
    const shown = await run(undefined, 'refresh')
    expect(shown.stdout).toContain('1 changed, 0 unchanged')
    expect(shown.stderr).toContain('no longer lists openai/gpt-oss-120b')
    expect(text()).toBe(older)
    await run(undefined, 'refresh', 'groq', '--write')
    expect(rawModels(text())[1]).toMatchObject({ input: '$0.649/M' })
    expect(text()).toContain('cost = {')
  })

  test('a refresh leaves prices by hand alone, and sells no rate below its cost', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at)
    const [first = '', second = ''] = ['openai/gpt-oss-120b', 'groq/llama-3.3-70b-versatile']
    const [, ...entries] = text().split('[[models]]')
    const byHand = entries.find((entry) => entry.includes(`id = "${first}"`)) ?? ''
    const dearOutput = entries.find((entry) => entry.includes(`id = "${second}"`)) ?? ''
    writeFileSync(
      config,
      text()
        .replace(byHand, byHand.replace(/route = .*/, 'route = ["groq:openai/gpt-oss-120b"]'))
        .replace(dearOutput, dearOutput.replace('output = "$0.79/M"', 'output = "$1.58/M"'))
        // Its input was sold at a loss.
        .replace('\ninput = "$0.59/M"', '\ninput = "$0.50/M"'),
    )
    const { stdout, stderr } = await run(undefined, 'refresh', '--write')
    expect(stderr).toContain(`Left as it is: ${first}, because its route has no cost`)
    expect(stdout).toContain('1 changed')
    expect(rawModels(text())).toMatchObject([
      { id: first, input: '$0.15/M', output: '$0.60/M' },
      { id: second, input: '$1.18/M', output: '$1.58/M' },
    ])
  })

  test("the operator's prices are for models without a published one alone", async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--input', '0.01', '--output', '0.01')
    expect(rawModels(text())).toMatchObject([
      { id: 'openai/gpt-oss-120b', input: '$0.15/M' },
      { id: 'groq/llama-3.3-70b-versatile', input: '$0.59/M' },
      { id: 'groq/brand-new', input: '$0.01/M' },
    ])
  })

  test('an upstream that is at another address is not taken for this one', async () => {
    begin()
    await run(secret, 'add', 'groq', '--at', at, '--models', 'llama-*')
    const before = text()
    const elsewhere = ['--at', 'http://127.0.0.1:9/v1']
    const { code, stderr } = await run(secret, 'add', 'groq', ...elsewhere)
    expect([code, stderr]).toEqual([2, expect.stringContaining('name the new one with --id')])
    const odd = await run(secret, 'add', 'groq', '--at', 'https://:pw@127.0.0.1/v1')
    expect(odd.code).toBe(2)
    expect(text()).toBe(before)
  })

  test('lists every preset, for programs too', async () => {
    const { stdout } = await run(undefined, 'list', '--json')
    const { data } = JSON.parse(stdout) as { data: { id: string; key_env: string[] }[] }
    expect(data.find(({ id }) => id === 'groq')?.key_env).toEqual(['GROQ_API_KEY'])
    expect((await run(undefined, 'list')).stdout.trim().split('\n')).toHaveLength(data.length)
  })
})
