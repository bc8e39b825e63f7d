import { describe, expect, test } from 'bun:test'
import { loadConfig } from '../../src/config/config.ts'
import { showConfig } from '../../src/config/show.ts'

describe('the configuration of a key that signs', () => {
  const load = (lines: string, key: string) =>
    loadConfig({
      flags: {},
      env: { ITS_KEY: key },
      fileText: `[[upstreams]]\nid = "u"\napi_key_env = "ITS_KEY"\n${lines}`,
      filePath: 'counterfoil.toml',
      readFile: () => undefined,
    })
  const bedrock = 'base_url = "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1"\n'

  test.each([
    ['a key in another form', `${bedrock}auth = "sigv4"`, 'my-secret', /its key must be ID:SECRET/],
    ['no region', 'base_url = "https://x.example"\nauth = "sigv4"', 'A:b', /needs region/],
    ['a region without sigv4', `${bedrock}region = "eu-west-1"`, 'A:b', /region is for/],
    ['half a JSON', `${bedrock}auth = "google"`, '{"client_email":"my-secret"', /must be the JSON/],
  ])('%s is refused without the key', (_, lines, key, problem) => {
    const loaded = load(lines, key)
    if (!('problems' in loaded)) throw new Error('it was taken')
    expect(loaded.problems).toHaveLength(1)
    expect(loaded.problems[0]).toMatch(problem)
    expect(loaded.problems[0]).not.toContain('my-secret')
  })

  test('a right one is taken, and not shown', () => {
    const loaded = load(`${bedrock}auth = "sigv4"`, 'AKID:my-secret')
    if ('problems' in loaded) throw new Error(loaded.problems.join())
    const shown = showConfig(loaded.config, loaded.sources)
    expect(shown).toContain('auth = "sigv4"')
    expect(shown).not.toContain('my-secret')
  })
})
