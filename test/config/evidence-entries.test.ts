import { describe, expect, test } from 'bun:test'
import { showConfig } from '../../src/config/show.ts'
import { configOf, load, problemsOf, upstream } from './load.ts'

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const withAttest = (lines: string, more = '') => `${upstream}${more}[upstreams.attest]\n${lines}\n`
const good = `scheme = "near-ai"\nkeys = ["${address}"]`
const problems = (lines: string, more = '') => problemsOf({ fileText: withAttest(lines, more) })

describe('[upstreams.attest]', () => {
  test('An upstream without it signs nothing.', () => {
    const [one] = configOf({ fileText: upstream }).upstreams
    expect(Object.keys(one ?? {})).not.toContain('attest')
  })

  test('It names a scheme and keys; the path has a default.', () => {
    const [one] = configOf({ fileText: withAttest(good) }).upstreams
    expect(one?.attest).toEqual({ scheme: 'near-ai', keys: [address], path: 'signature/{id}' })
    const own = configOf({ fileText: withAttest(`${good}\npath = "tee/{id}"`) })
    expect(own.upstreams[0]?.attest?.path).toBe('tee/{id}')
  })

  test('It is shown with the upstream.', () => {
    const loaded = load({ fileText: withAttest(good) })
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    const shown = showConfig(loaded.config, loaded.sources)
    expect(shown).toContain('attest.scheme = "near-ai"')
    expect(shown).toContain(address)
  })

  test.each([
    ['keys = []\nscheme = "near-ai"', 'upstreams[1].attest.keys must name 1 to 64 keys'],
    [
      `scheme = "near-ai"\nkeys = [${Array(65).fill(`"${address}"`).join()}]`,
      'upstreams[1].attest.keys must name 1 to 64 keys',
    ],
    [
      `scheme = "near-ai"\nkeys = ["${address}", "0x12"]`,
      'upstreams[1].attest.keys: "0x12" is not a key of near-ai',
    ],
    [`keys = ["${address}"]`, 'upstreams[1].attest.scheme is missing'],
    ['scheme = "near-ai"', 'upstreams[1].attest.keys is missing'],
    [`${good}\nkey = "x"`, 'unknown key upstreams[1].attest.key; did you mean keys?'],
    [
      `${good}\npath = "/signature/{id}"`,
      'upstreams[1].attest.path must be a path with {id}, without a query',
    ],
    [
      `${good}\npath = "signature"`,
      'upstreams[1].attest.path must be a path with {id}, without a query',
    ],
  ])('What is wrong with it is said: %#.', (lines, problem) => {
    expect(problems(lines)).toEqual([problem])
  })

  test('64 keys are taken; a server of another API is refused.', () => {
    const keys = Array(64).fill(`"${address}"`).join()
    expect(problems(`scheme = "near-ai"\nkeys = [${keys}]`)).toEqual([])
    expect(problems(good, 'kind = "anthropic"\n')).toEqual([
      'upstreams[1].attest needs kind = "openai": near-ai signs that API',
    ])
    expect(problemsOf({ fileText: `${upstream}attest = 1` })).toEqual([
      'upstreams[1].attest must be a table',
    ])
  })
})
