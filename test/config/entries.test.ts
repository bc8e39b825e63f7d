import { describe, expect, test } from 'bun:test'
import { configView, explainConfig, showConfig } from '../../src/config/show.ts'
import { promise } from '../support/promise.ts'
import { configOf, load, model, problemsOf, upstream } from './load.ts'

describe('secrets', () => {
  const env = { COUNTERFOIL_DATABASE_URL_FILE: '/run/db' }
  const file = (mode: number) => () => ({ text: 'postgres://u:p@h/db\n', mode })

  promise`E5`
  test('the database comes from a file that its owner alone may read', () => {
    expect(configOf({ env, readFile: file(0o600) }).database_url).toBe('postgres://u:p@h/db')
    expect(problemsOf({ env, readFile: file(0o640) })).toEqual([
      'COUNTERFOIL_DATABASE_URL_FILE: /run/db can be read by others; chmod 600 it',
    ])
    expect(problemsOf({ env })).toEqual(['COUNTERFOIL_DATABASE_URL_FILE: cannot read /run/db'])
  })

  test('the variable and its file together are refused', () => {
    const both = { ...env, COUNTERFOIL_DATABASE_URL: 'sqlite:x' }
    expect(problemsOf({ env: both, readFile: file(0o600) })).toHaveLength(1)
  })

  promise`E5`
  test('an upstream key comes from its variable or its file', () => {
    const byEnv = `${upstream}api_key_env = "COUNTERFOIL_LOCAL"`
    const env = { COUNTERFOIL_LOCAL: 'sk-1' }
    expect(configOf({ fileText: byEnv, env }).upstreams[0]?.api_key).toBe('sk-1')
    expect(problemsOf({ fileText: byEnv })).toEqual([
      'upstreams[1].api_key_env: neither COUNTERFOIL_LOCAL nor COUNTERFOIL_LOCAL_FILE is set',
    ])
    const named = { COUNTERFOIL_LOCAL_FILE: '/run/key' }
    const inFile = { fileText: byEnv, env: named, readFile: () => ({ text: 'sk-3', mode: 0o600 }) }
    expect(configOf(inFile).upstreams[0]?.api_key).toBe('sk-3')
    expect(problemsOf({ ...inFile, env: { ...env, ...named } })).toEqual([
      'set COUNTERFOIL_LOCAL or COUNTERFOIL_LOCAL_FILE, not both',
    ])
    const byFile = `${upstream}api_key_file = "key"`
    const readFile = () => ({ text: 'sk-2\n', mode: 0o400 })
    expect(configOf({ fileText: byFile, readFile }).upstreams[0]?.api_key).toBe('sk-2')
  })

  test('the settings in force are shown without them', () => {
    const loaded = load({ env: { COUNTERFOIL_DATABASE_URL: 'postgres://u:hunter2@h/db' } })
    if ('problems' in loaded) throw new Error('a sound configuration was refused')
    const shown = showConfig(loaded.config, loaded.sources)
    expect(shown).not.toContain('hunter2')
    expect(shown).toContain('database_url = (secret)  # env')
    expect(shown).toContain('listen = "127.0.0.1:4663"  # default')
  })

  promise`E5`
  test('no form of showing the configuration has one, wherever it came from', () => {
    const fileText = `${upstream.replace('/v1/', '/v1?api_token=hunter1')}api_key_env = "LOCAL"
[chain]
rpc_urls = ["https://rpc.example/hunter2"]`
    const env = { LOCAL: 'hunter3', COUNTERFOIL_DATABASE_URL_FILE: '/run/db' }
    const readFile = () => ({ text: 'postgres://u:hunter4@h/db', mode: 0o600 })
    const loaded = load({ fileText, env, readFile })
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    const { config, sources } = loaded
    const view = configView(config, sources)
    const shown = [
      showConfig(config, sources),
      explainConfig(config, sources),
      JSON.stringify(view),
    ]
    for (const text of shown) {
      expect(text).toContain('http://127.0.0.1:8000')
      expect(text).not.toContain('hunter')
    }
    expect(view).toContainEqual({ name: 'chain.rpc_urls', value: '(secret)', source: 'file' })
    expect(shown[1]).toContain('# The database; counterfoil.db inside data when absent.')
    expect(shown[1]).toContain('# --database-url, COUNTERFOIL_DATABASE_URL or …_FILE')
  })
})

describe('a proxy in front of model servers', () => {
  const proxied = (env: Record<string, string>) =>
    configOf({ fileText: upstream, env }).upstreams.map(({ is_proxied }) => is_proxied === true)

  test.each(['http_proxy', 'https_proxy', 'all_proxy'])('is there when %s names one', (name) => {
    expect(proxied({ [name]: 'http://proxy.example:3128' })).toEqual([true])
    expect(proxied({ [name.toUpperCase()]: 'http://proxy.example:3128' })).toEqual([true])
    expect(proxied({ [name]: '' })).toEqual([false])
  })

  test('is the environment’s to name, never the file’s', () => {
    expect(proxied({ NO_PROXY: 'model.example' })).toEqual([false])
    expect(problemsOf({ fileText: `${upstream}is_proxied = true` })).toEqual([
      expect.stringContaining('unknown key upstreams[1].is_proxied'),
    ])
  })
})

describe('models and upstreams', () => {
  test('an entry is read whole, prices exact', () => {
    const config = configOf({ fileText: upstream + model })
    expect(config.upstreams).toEqual([
      {
        id: 'local',
        kind: 'openai',
        base_url: 'http://127.0.0.1:8000/v1',
        auth: undefined,
        region: undefined,
        service: undefined,
        headers: undefined,
        headers_env: undefined,
        query: undefined,
        secret_headers: {},
        status: undefined,
        timeout_first_byte_ms: undefined,
        timeout_idle_ms: 60_000,
        timeout_total_ms: 600_000,
        relay_messages: true,
        breaker_failures: 5,
        breaker_cooldown_ms: 30_000,
        max_in_flight: 2048,
        max_wait_ms: 5000,
        share_connections: false,
        api_key: undefined,
      },
    ])
    expect(config.models[0]).toMatchObject({
      id: 'acme/small',
      route: ['local:small:8b'],
      kind: 'chat',
      input_pusd: 150_000n,
    })
    const exact = model.replace('150_000', '8_999_999_999_999_999')
    expect(configOf({ fileText: upstream + exact }).models[0]?.input_pusd).toBe(
      8_999_999_999_999_999n,
    )
  })

  test.each([
    ['no price', model.replace('input_pusd = 150_000', ''), 'needs input_pusd'],
    [
      'a fraction as price',
      model.replace('150_000', '0.5'),
      'models[1].input_pusd must be a whole number',
    ],
    ['no output price', model.replace('output_pusd = 600_000', ''), 'needs output_pusd'],
    ['an unknown upstream', model.replace('local:', 'locl:'), 'names an unknown upstream'],
    ['no route', model.replace('"local:small:8b"', ''), 'needs a route'],
    ['an unknown key', `${model}inputpusd = 1`, 'did you mean input_pusd?'],
    ['two of an id', model + model, 'occurs twice'],
  ])('A model or upstream is refused for %s.', (_, text, problem) => {
    const problems = problemsOf({ fileText: upstream + text })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  test('a built-in model may be priced and takes no route', () => {
    const priced =
      '[[models]]\nid = "counterfoil/echo-1"\ninput_pusd = 20_000\noutput_pusd = 20_000'
    expect(configOf({ fileText: priced }).models[0]?.output_pusd).toBe(20_000n)
    expect(problemsOf({ fileText: `${upstream}${priced}\nroute = ["local:x"]` })).toHaveLength(1)
  })

  test('two upstreams of one id are refused', () => {
    expect(problemsOf({ fileText: upstream + upstream })).toEqual([
      'upstreams: "local" is there twice',
    ])
  })

  test('a plan may change a default one in part', () => {
    const fileText = '[[plans]]\nid = "free"\nlimits = { rpm = 600, max_keys = 9 }'
    const [plan] = configOf({ fileText }).plans
    expect(plan?.limits).toMatchObject({ rpm: 600, max_keys: 9 })
    expect(problemsOf({ fileText: fileText.replace('rpm', 'rpmm') })).toEqual([
      'unknown key plans[1].limits.rpmm; did you mean rpm?',
    ])
  })
})

describe('aliases of models', () => {
  const aliased = (aliases: string) => ({ fileText: `${aliases}\n${upstream}${model}` })

  test('are names and globs that stand for a model', () => {
    const text = 'aliases = { "gpt-5" = "acme/small", "claude-*" = "counterfoil/echo-1" }'
    const names = { 'gpt-5': 'acme/small', 'claude-*': 'counterfoil/echo-1' }
    expect(configOf(aliased(text)).aliases).toEqual(names)
    const env = { COUNTERFOIL_ALIASES: 'gpt-5=acme/small, claude-*=counterfoil/echo-1' }
    expect(configOf({ env, fileText: upstream + model }).aliases).toEqual(names)
  })

  test('are refused with the model that is not there, or that they would hide', () => {
    expect(problemsOf(aliased('aliases = { "gpt-5" = "acme/larger" }'))).toEqual([
      'aliases: "gpt-5" names no model: "acme/larger"',
    ])
    expect(problemsOf(aliased('aliases = { "acme/small" = "counterfoil/echo-1" }'))).toEqual([
      'aliases: "acme/small" is the id of a model itself',
    ])
    for (const wrong of ['aliases = "x"', 'aliases = { "a b" = "acme/small" }', 'aliases = []']) {
      expect(problemsOf(aliased(wrong))[0]).toContain('aliases')
    }
  })
})

describe('several keys of an upstream', () => {
  const keys = (list: string) => `${upstream}keys = [${list}]`
  const env = { KEY_A: 'hunter-a', KEY_B: 'hunter-b' }
  const both = keys('{ env = "KEY_A", weight = 3 }, { env = "KEY_B" }')

  promise`E5`
  test('come from variables and files, and are not shown', () => {
    const loaded = load({ fileText: both, env })
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    expect(loaded.config.upstreams[0]).toMatchObject({
      api_key: 'hunter-a',
      keys: [
        { name: 'KEY_A', key: 'hunter-a', weight: 3 },
        { name: 'KEY_B', key: 'hunter-b', weight: 1 },
      ],
    })
    const { config, sources } = loaded
    const shown = showConfig(config, sources) + JSON.stringify(configView(config, sources))
    expect(shown).not.toContain('hunter')
    expect(shown).toContain('keys = [{ env = "KEY_A", weight = 3 }, { env = "KEY_B", weight = 1 }]')
    const readFile = () => ({ text: 'sk-2\n', mode: 0o400 })
    const [one] = configOf({ fileText: keys('{ file = "key" }'), readFile }).upstreams
    expect([one?.api_key, one?.keys]).toEqual(['sk-2', undefined])
    expect(problemsOf({ fileText: both.replaceAll('KEY_', 'COUNTERFOIL_K'), env: {} })).toEqual([
      'upstreams[1].keys[1].env: neither COUNTERFOIL_KA nor COUNTERFOIL_KA_FILE is set',
      'upstreams[1].keys[2].env: neither COUNTERFOIL_KB nor COUNTERFOIL_KB_FILE is set',
    ])
    const ours = { COUNTERFOIL_KA: '1', COUNTERFOIL_KB: '2' }
    expect(problemsOf({ fileText: both.replaceAll('KEY_', 'COUNTERFOIL_K'), env: ours })).toEqual(
      [],
    )
  })

  test('are refused where they say two things', () => {
    const said = (fileText: string) => problemsOf({ fileText, env }).join('; ')
    expect(said(`${both}\napi_key_env = "KEY_A"`)).toContain(
      'keys stands in the place of api_key_env',
    )
    expect(said(keys('{ env = "KEY_A", file = "x" }'))).toContain('set env or file, not both')
    expect(said(keys('{ weight = 2 }'))).toContain('keys[1] must name env or file')
    expect(said(keys('{ env = "KEY_A" }, { env = "KEY_A" }'))).toContain('two are the same key')
    expect(said(keys('{ env = "KEY_A", weight = 0 }'))).toContain('weight must be')
    expect(said(keys(''))).toContain('keys must have 1 to 32 items')
  })
})
