import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawAliases } from '../../../src/config/alias-text.ts'
import { rawModels, rawUpstreams } from '../../../src/config/model-text.ts'
import { commandHome } from '../../support/commands.ts'
import { modelIds, sourceSecrets, writeLitellmConfig, writeOneApi } from './fixtures.ts'

setDefaultTimeout(120_000)

describe('counterfoil import, models and configuration', () => {
  let home = commandHome()
  afterEach(() => {
    home.remove()
    home = commandHome()
  })
  const at = (name: string) => join(home.folder, name)
  const run = (...args: string[]) => {
    const done = home.run('import', ...args)
    for (const secret of sourceSecrets) expect(done.stdout + done.stderr).not.toContain(secret)
    return done
  }
  const moveIn = (...args: string[]) => {
    const done = run(...args, '--json')
    expect(done.stderr.replace(/^\d+ keys stay there.*\n$/, '')).toBe('')
    return JSON.parse(done.stdout)
  }
  const toml = () => readFileSync(at('counterfoil.toml'), 'utf8')

  test('50 models of LiteLLM come over with their prices, routes and aliases, once.', () => {
    writeLitellmConfig(at('config.yaml'))
    const before = readdirSync(home.folder, { recursive: true })
    const dry = run('litellm', at('config.yaml'), '--dry-run')
    expect(dry.code).toBe(0)
    expect(dry.stdout).toContain('id = "team-model-50"')
    expect(dry.stderr).toContain('Nothing was changed.')
    expect(readdirSync(home.folder, { recursive: true })).toEqual(before)

    const first = moveIn('litellm', at('config.yaml'))
    expect(first.models).toEqual({ added: [...modelIds, 'inline'], present: 0 })
    const text = toml()
    const models = rawModels(text)
    // The dearer of its two servers is what it is sold at; both share the requests.
    expect(models[0]).toMatchObject({
      ...{ input: '$0.20/M', output: '$0.60/M', context_tokens: 100_000n },
      route: [
        { to: 'openai:team-model-1', weight: 1n },
        { to: 'openai-2:team-model-1', weight: 1n },
      ],
    })
    expect(models[1]).toMatchObject({ input: '$0.15/M', route: ['openai:team-model-2'] })
    expect(rawAliases(text)).toEqual({ 'gpt-4': 'team-model-2' })
    expect(rawUpstreams(text)[0]).toMatchObject({ id: 'openai', api_key_env: 'OPENAI_API_KEY' })
    const file = String(rawUpstreams(text)[2]?.['api_key_file'])
    expect(readFileSync(file, 'utf8')).toBe('sk-inline-upstream-secret\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const left = new Map(
      first.left.map((one: { why: string; what: string[] }) => [one.why, one.what]),
    )
    expect(left.get('a price of zero: enter its price in [[models]]')).toEqual(['gratis'])
    for (const name of ['anything/*', 'cloud', 'lost', 'fallbacks']) {
      expect([...left.values()].flat()).toContain(name)
    }

    expect(moveIn('litellm', at('config.yaml'))).toMatchObject({
      ...{ models: { added: [], present: 51 }, upstreams: [], aliases: {} },
    })
    expect(toml()).toBe(text)
  })

  test('A model that is there stays as the operator has it, and the report says so.', () => {
    writeLitellmConfig(at('config.yaml'))
    moveIn('litellm', at('config.yaml'))
    const own = toml().replace('input = "$0.15/M"', 'input = "$0.90/M"')
    writeFileSync(at('counterfoil.toml'), own)
    const again = moveIn('litellm', at('config.yaml'), '--markup', '10%')
    expect(JSON.stringify(again.left)).toContain('its prices here are others, and stay as they are')
    expect(toml()).toBe(own)
  })

  test.each(['new-api', 'one-api'] as const)(
    '50 models of %s come over, with each key of a channel in a file of its own',
    (kind) => {
      writeOneApi(at('one-api.db'), kind)
      const source = readFileSync(at('one-api.db'))
      const args = [kind, at('one-api.db'), '--context', '128000']
      const first = moveIn(...args)
      expect(first.models.added.toSorted()).toEqual(modelIds.toSorted())
      expect(JSON.stringify(first.left)).toContain('a price of zero')
      const text = toml()
      expect(rawModels(text).find(({ id }) => id === 'team-model-1')).toMatchObject({
        ...{ input: '$0.15/M', output: '$0.60/M', context_tokens: 128_000n },
        route: ['openai:team-model-1', 'openai-3:large-2026'],
      })
      for (const secret of sourceSecrets) expect(text).not.toContain(secret)
      const [two, one] = rawUpstreams(text)
      expect(readFileSync(String(one?.['api_key_file']), 'utf8')).toBe('sk-upstream-a\n')
      const list = (two?.['keys'] ?? []) as unknown as { file: string }[]
      const files = list.map(({ file }) => file)
      expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual([
        'sk-upstream-b\n',
        'sk-second-of-b\n',
      ])
      expect(moveIn(...args)).toMatchObject({ models: { added: [], present: 50 }, upstreams: [] })
      expect(toml()).toBe(text)
      expect(readFileSync(at('one-api.db')).equals(source)).toBe(true)
    },
  )

  test('A server whose address is in a variable that is not set is refused by its name.', () => {
    writeFileSync(
      at('config.yaml'),
      `model_list:
  - model_name: hosted
    litellm_params: { model: hosted_vllm/x, api_base: os.environ/MY_VLLM_BASE }
`,
    )
    const done = run('litellm', at('config.yaml'))
    expect([done.code, done.stdout]).toEqual([1, ''])
    expect(done.stderr).toContain('MY_VLLM_BASE (api_base of hosted)')
    expect(done.stderr).toContain('Set each to the address')
    expect(existsSync(at('counterfoil.toml'))).toBe(false)
  })

  test('A key that cannot be stored leaves neither configuration nor other keys behind.', () => {
    writeOneApi(at('one-api.db'))
    writeFileSync(at('data/keys'), 'a file in the place of the folder')
    const done = run('new-api', at('one-api.db'), '--context', '128000')
    expect(done.code).toBe(1)
    expect(done.stderr).toContain('could not be stored')
    expect(existsSync(at('counterfoil.toml'))).toBe(false)
  })

  test('A broken file is named without a word of what it says, and changes nothing.', () => {
    const broken: [name: string, text: string, gateway: string][] = [
      ['half.json', '{"sk-upstream-a": [', 'litellm'],
      ['other.csv', 'a,b\n1,sk-upstream-a\n', 'litellm'],
      ['bad.yaml', 'model_list:\n  - model_name: [\n api_key: sk-upstream-a', 'litellm'],
      ['none.yaml', 'model_list:\n  - litellm_params: { api_key: sk-upstream-a }', 'litellm'],
      ['text.db', 'sk-upstream-a', 'new-api'],
      ['odd.csv', 'model_permaslug,sk-upstream-a\n', 'openrouter'],
    ]
    for (const [name, text, gateway] of broken) {
      writeFileSync(at(name), text)
      const done = run(gateway, at(name))
      expect([name, done.code, done.stdout]).toEqual([name, 1, ''])
      expect(done.stderr).toContain(name)
      expect(done.stderr).toContain('Nothing was changed.')
    }
    expect(run('litellm', at('missing.yaml')).stderr).toContain('there is no such file')
    expect(existsSync(at('counterfoil.toml'))).toBe(false)
  })
})
