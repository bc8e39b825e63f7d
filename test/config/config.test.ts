import { describe, expect, test } from 'bun:test'
import { explainSettings, helpSettings } from '../../src/config/help.ts'
import { rows } from '../../src/config/table.ts'
import { promise } from '../support/promise.ts'
import { configOf, load, problemsOf } from './load.ts'

describe('without any configuration', () => {
  test('the server listens on loopback alone, and its origin is localhost', () => {
    const config = configOf()
    expect(config.listen).toEqual({ hostname: '127.0.0.1', port: 4663 })
    expect(config.base_url).toBe('http://localhost:4663')
    expect(config.database_url).toBe('sqlite:./data/counterfoil.db')
    expect(config.limits).toEqual({
      body_bytes: 33_554_432,
      client_bytes: undefined,
      keep_responses_hours: 24,
      keep_responses_bytes: 67_108_864,
      body_timeout_s: 30,
      slow_bodies: 64,
      free_writes_per_day: 10_000,
      free_bytes_per_day: 16_777_216,
      unpaid_runs_per_day: 20_000,
      free_for_all: undefined,
      unfunded_runs: 2,
      session_per_minute: 600,
      rpm: 6000,
      concurrency: 1024,
      keyless_per_minute: 6000,
      failed_auth_per_minute: 300,
      admission: 2048,
      drain_s: 300,
      stop_grace_s: 25,
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
    expect(loaded.config.limits).toMatchObject({ rpm: 22, concurrency: 5, body_bytes: 33_554_432 })
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
  ])('The URL %s is not a valid base_url.', (base_url) => {
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
    'The server cannot listen on "%s".',
    (listen) => expect(problemsOf({ flags: { listen } })).toHaveLength(1),
  )

  test('broken TOML is placed, but never quoted', () => {
    const [problem] = problemsOf({ fileText: 'listen = "127.0.0.1:1"\ndatabase_url = hunter2' })
    expect(problem).toStartWith('counterfoil.toml:2:')
    expect(problem).not.toContain('hunter2')
  })

  promise`K18`
  test('a wrong secret is never quoted', () => {
    const env = { COUNTERFOIL_DATABASE_URL: 'mysql://root:hunter2@x' }
    expect(problemsOf({ env }).join()).not.toContain('hunter2')
  })

  test('an address with a wrong digit is found by its checksum', () => {
    const treasury = '0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168'
    expect(configOf({ flags: { chainTreasury: treasury } }).chain.treasury).toBe(treasury)
    const slip = treasury.replace('5fc5', '5fc6')
    expect(problemsOf({ flags: { chainTreasury: slip } })[0]).toStartWith(
      '--chain-treasury must be',
    )
  })

  test('variables that others own are left alone', () => {
    const env = { COUNTERFOIL_KEY: 'x', COUNTERFOIL_PORT: 'tcp://x', COUNTERFOIL_SERVICE_HOST: 'x' }
    expect(problemsOf({ env })).toEqual([])
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
