import { describe, expect, test } from 'bun:test'
import { configView, explainConfig, showConfig } from '../../src/config/show.ts'
import { promise } from '../support/promise.ts'
import { configOf, load, problemsOf, upstream } from './load.ts'

const secret = 'the-collectors-own'

describe('the collector of traces', () => {
  test('is off by default, and then samples all and tells no upstream', () => {
    const { endpoint, headers, sample, pass_to } = configOf().telemetry
    expect([endpoint, headers, sample, pass_to]).toEqual([undefined, undefined, 1, []])
  })

  test('is read from the file, its headers from the environment as OpenTelemetry writes them', () => {
    const fileText = `${upstream}[telemetry]
endpoint = "https://otlp.example/path/"
sample = 0.01
pass_to = ["local"]`
    const env = { COUNTERFOIL_TELEMETRY_HEADERS: 'Authorization=Basic%20YTpi=,x-team=a' }
    expect(configOf({ fileText, env }).telemetry).toEqual({
      endpoint: 'https://otlp.example/path',
      headers: { authorization: 'Basic YTpi=', 'x-team': 'a' },
      sample: 0.01,
      pass_to: ['local'],
    })
  })

  test('has its headers in the file, or in a file of their own', () => {
    const fileText = `[telemetry]\nheaders = { authorization = "Bearer ${secret}" }`
    const wanted = { authorization: `Bearer ${secret}` }
    expect(configOf({ fileText }).telemetry.headers).toEqual(wanted)
    const text = `authorization=Bearer ${secret}\n`
    const env = { COUNTERFOIL_TELEMETRY_HEADERS_FILE: '/run/secret' }
    const readFile = () => ({ text, mode: 0o600 })
    expect(configOf({ env, readFile }).telemetry.headers).toEqual(wanted)
  })

  promise`E15`
  test('has its headers shown in no form, wherever they came from', () => {
    const inputs = [
      { fileText: `[telemetry]\nheaders = { x-key = "${secret}" }` },
      { env: { COUNTERFOIL_TELEMETRY_HEADERS: `x-key=${secret}` } },
    ]
    for (const input of inputs) {
      const loaded = load(input)
      if ('problems' in loaded) throw new Error(loaded.problems.join())
      const { config, sources } = loaded
      const view = JSON.stringify(configView(config, sources))
      const shown = [showConfig(config, sources), explainConfig(config, sources), view].join('\n')
      expect(shown).not.toContain(secret)
      expect(shown).toContain('telemetry.headers = (secret)')
    }
  })

  const wrong: [string, string][] = [
    ['endpoint = "otlp.example:4318"', 'telemetry.endpoint must be an http:// or https:// URL'],
    [`endpoint = "https://a.example/?key=${secret}"`, 'telemetry.endpoint must be'],
    [`endpoint = "https://me:${secret}@a.example"`, 'telemetry.endpoint must be'],
    [`headers = { host = "${secret}" }`, 'telemetry.headers must be a table'],
    [`headers = { x-key = "${secret}\\n" }`, 'telemetry.headers must be a table'],
    [`headers = "${secret}"`, 'telemetry.headers must be a table'],
    ['sample = 1.5', 'telemetry.sample must be a number from 0 to 1'],
    ['pass_to = ["nowhere"]', 'telemetry.pass_to names no upstream: "nowhere"'],
  ]
  test.each(wrong)('%s is refused without a word of the value', (line, words) => {
    const problems = problemsOf({ fileText: `[telemetry]\n${line}` })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(words)
    expect(problems[0]).not.toContain(secret)
  })

  test('has no header without a name or a value from the environment', () => {
    for (const text of [secret, `=${secret}`, `x y=${secret}`]) {
      const problems = problemsOf({ env: { COUNTERFOIL_TELEMETRY_HEADERS: text } })
      expect(problems).toHaveLength(1)
      expect(problems[0]).not.toContain(secret)
    }
  })
})
