import { describe, expect, test } from 'bun:test'
import { type Inputs, loadConfig } from '../src/config.ts'
import { explainSettings, helpSettings, showConfig } from '../src/config-help.ts'
import { rows } from '../src/config-table.ts'

/** Loads with nothing set but what the test says. */
function load(some: Partial<Inputs> = {}) {
  return loadConfig({
    flags: {},
    env: {},
    fileText: undefined,
    filePath: 'counterfoil.toml',
    readFile: () => undefined,
    ...some,
  })
}

function configOf(some: Partial<Inputs> = {}) {
  const loaded = load(some)
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

function problemsOf(some: Partial<Inputs>): string[] {
  const loaded = load(some)
  return 'problems' in loaded ? loaded.problems : []
}

const upstream = `
[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:8000/v1/"
`
const model = `
[[models]]
id = "acme/small"
route = ["local:small:8b"]
context_tokens = 128_000
max_output_tokens = 4096
input_pusd = 150_000
output_pusd = 600_000
`

describe('without any configuration', () => {
  test('the server listens on loopback alone, and its origin is localhost', () => {
    const config = configOf()
    expect(config.listen).toEqual({ hostname: '127.0.0.1', port: 4663 })
    expect(config.base_url).toBe('http://localhost:4663')
    expect(config.database_url).toBe('sqlite:./data/counterfoil.db')
    expect(config.limits).toEqual({
      body_bytes: 4_194_304,
      rpm: 6000,
      concurrency: 1024,
      keyless_per_minute: 6000,
      failed_auth_per_minute: 300,
      admission: 1024,
    })
    expect(config.deposits.final_above_nusd).toBe(10_000_000_000_000n)
  })

  test('every default is a value its own reader takes', () => {
    for (const { path, setting } of rows) {
      if (setting.initial === undefined) continue
      expect(setting.reader.check(setting.reader.fromText(setting.initial)), path).toHaveProperty(
        'value',
      )
    }
  })

  test('a bare DATABASE_URL changes nothing', () => {
    const config = configOf({ env: { DATABASE_URL: 'postgres://elsewhere/db', PORT: '80' } })
    expect(config.database_url).toBe('sqlite:./data/counterfoil.db')
  })
})

describe('order of sources', () => {
  const fileText = 'listen = "127.0.0.1:1"\n[limits]\nrpm = 1_1\nconcurrency = 5'
  const env = { COUNTERFOIL_LISTEN: '127.0.0.1:2', COUNTERFOIL_LIMITS_RPM: '2_2' }

  test('flag before environment before file before default', () => {
    const loaded = load({ fileText, env, flags: { listen: '127.0.0.1:3', dev: true } })
    if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
    expect(loaded.config.listen.port).toBe(3)
    expect(loaded.config.limits).toMatchObject({ rpm: 22, concurrency: 5, body_bytes: 4_194_304 })
    expect(loaded.sources).toMatchObject({
      listen: 'flag',
      'limits.rpm': 'env',
      'limits.concurrency': 'file',
      'limits.body_bytes': 'default',
    })
  })

  test('base_url follows the port of listen', () => {
    expect(configOf({ flags: { listen: '127.0.0.1:81' } }).base_url).toBe('http://localhost:81')
    expect(configOf({ flags: { listen: '127.0.0.1:80' } }).base_url).toBe('http://localhost')
    expect(configOf({ flags: { listen: '8080' } }).listen.hostname).toBe('127.0.0.1')
  })

  test('an empty variable counts as none', () => {
    expect(configOf({ env: { COUNTERFOIL_LISTEN: '' } }).listen.port).toBe(4663)
  })

  test('lists in flags and variables are divided by commas', () => {
    const env = { COUNTERFOIL_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }
    expect(configOf({ env }).trusted_proxies).toEqual(['10.0.0.0/8', '::1'])
  })
})

describe('a wrong configuration', () => {
  test('all errors are told together, unknown keys with the nearest one', () => {
    const fileText = `
      lisen = "x"
      base_url = "https://GW.example/"
      [limit]
      rpm = 1
      [limits]
      rpmm = 1
      rpm = -4
      body_bytes = 4.5
      [log]
      level = "loud"`
    expect(problemsOf({ fileText, env: { COUNTERFOIL_LISTN: 'x' } })).toEqual([
      'counterfoil.toml: unknown key lisen; did you mean listen?',
      'counterfoil.toml: unknown key limit; did you mean limits?',
      'counterfoil.toml: unknown key limits.rpmm; did you mean rpm?',
      expect.stringContaining('base_url must be an origin'),
      expect.stringContaining('log.level must be one of debug, info, warn, error'),
      expect.stringContaining('limits.body_bytes must be a whole number'),
      expect.stringContaining('limits.rpm must be a whole number from 1 to 10_000_000'),
      'unknown variable COUNTERFOIL_LISTN; did you mean COUNTERFOIL_LISTEN?',
    ])
  })

  test.each([
    'https://gw.example/',
    'https://Gw.example',
    'https://gw.example:443',
    'https://gw.example/path',
    'http://gw.example',
    'ftp://gw.example',
    'gw.example',
  ])('%s is no base_url', (base_url) => {
    expect(problemsOf({ flags: { baseUrl: base_url } })).toHaveLength(1)
  })

  test.each(['https://gw.example', 'http://localhost:4663', 'http://[::1]:1', 'http://127.0.0.2'])(
    '%s is one',
    (base_url) => {
      expect(configOf({ flags: { baseUrl: base_url } }).base_url).toBe(base_url)
    },
  )

  test.each(['0.0.0.0:4663', '[::]:4663', '192.168.1.2:80'])(
    'listening on %s needs a base_url',
    (listen) => {
      expect(problemsOf({ flags: { listen } })).toEqual([
        'base_url must be set to listen beyond loopback: it is the public origin',
      ])
      expect(problemsOf({ flags: { listen, baseUrl: 'https://gw.example' } })).toEqual([])
    },
  )

  test.each(['1.2.3.4:99999', '[nonsense]:1', 'a b:1', '', ':80'])(
    '"%s" is no place to listen',
    (listen) => expect(problemsOf({ flags: { listen } })).toHaveLength(1),
  )

  test('broken TOML is placed, but never quoted', () => {
    const [problem] = problemsOf({ fileText: 'listen = "127.0.0.1:1"\ndatabase_url = hunter2' })
    expect(problem).toStartWith('counterfoil.toml:2:')
    expect(problem).not.toContain('hunter2')
  })

  test('a wrong secret is never quoted', () => {
    const env = { COUNTERFOIL_DATABASE_URL: 'mysql://root:hunter2@x' }
    expect(problemsOf({ env }).join()).not.toContain('hunter2')
  })

  test('variables that others own are left alone', () => {
    const env = { COUNTERFOIL_KEY: 'x', COUNTERFOIL_PORT: 'tcp://x', COUNTERFOIL_SERVICE_HOST: 'x' }
    expect(problemsOf({ env })).toEqual([])
  })
})

describe('secrets', () => {
  const env = { COUNTERFOIL_DATABASE_URL_FILE: '/run/db' }
  const file = (mode: number) => () => ({ text: 'postgres://u:p@h/db\n', mode })

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

  test('an upstream key comes from its variable or its file', () => {
    const byEnv = `${upstream}api_key_env = "COUNTERFOIL_LOCAL"`
    const env = { COUNTERFOIL_LOCAL: 'sk-1' }
    expect(configOf({ fileText: byEnv, env }).upstreams[0]?.api_key).toBe('sk-1')
    expect(problemsOf({ fileText: byEnv })).toEqual([
      'upstreams[1].api_key_env: the variable COUNTERFOIL_LOCAL is not set',
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
})

describe('models and upstreams', () => {
  test('an entry is read whole, prices exact', () => {
    const config = configOf({ fileText: upstream + model })
    expect(config.upstreams).toEqual([
      {
        id: 'local',
        base_url: 'http://127.0.0.1:8000/v1',
        timeout_first_byte_ms: 60_000,
        timeout_idle_ms: 60_000,
        timeout_total_ms: 600_000,
        api_key: undefined,
      },
    ])
    expect(config.models[0]).toMatchObject({
      id: 'acme/small',
      route: ['local:small:8b'],
      kind: 'chat',
      input_pusd: 150_000n,
      request_nusd: 0n,
      status: 'live',
    })
    const exact = model.replace('150_000', '8_999_999_999_999_999')
    expect(configOf({ fileText: upstream + exact }).models[0]?.input_pusd).toBe(
      8_999_999_999_999_999n,
    )
  })

  test.each([
    ['no price', model.replace('input_pusd = 150_000', ''), 'models[1].input_pusd is missing'],
    [
      'a fraction as price',
      model.replace('150_000', '0.5'),
      'models[1].input_pusd must be a whole number',
    ],
    ['no output price', model.replace('output_pusd = 600_000', ''), 'output_pusd is missing'],
    ['an unknown upstream', model.replace('local:', 'locl:'), 'names the upstream locl'],
    ['no route', model.replace('"local:small:8b"', ''), 'route is missing'],
    ['an unknown key', `${model}inputpusd = 1`, 'did you mean input_pusd?'],
    ['two of an id', model + model, 'there are two models called acme/small'],
  ])('%s is refused', (_, text, problem) => {
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

  test('a plan may change a default one in part', () => {
    const fileText = '[[plans]]\nid = "free"\nlimits = { rpm = 600, max_keys = 9 }'
    const [plan] = configOf({ fileText }).plans
    expect(plan?.limits).toMatchObject({ rpm: 600, max_keys: 9 })
    expect(problemsOf({ fileText: fileText.replace('rpm', 'rpmm') })).toEqual([
      'unknown key plans[1].limits.rpmm; did you mean rpm?',
    ])
  })
})

test('help and the table of the docs name every setting', () => {
  const help = helpSettings()
  const explained = explainSettings()
  for (const row of rows) {
    expect(help).toContain(row.flag)
    expect(explained).toContain(`\`${row.env}\``)
  }
  expect(explained).toContain('`timeout_first_byte_ms`')
})
