import { describe, expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { diffModels } from '../../../src/config/model-diff.ts'
import { entryText, rawModels, withModels } from '../../../src/config/model-text.ts'
import { statementsOf } from '../../../src/config/toml-statements.ts'
import type { ModelEntry } from '../../../src/models/price-files/price-entry.ts'
import { promise } from '../../support/promise.ts'

/** Everything that a file may hold around what is changed. */
const text = `# the service of "acme"  [[models]] is not here
listen = "127.0.0.1:4700"  # a port = ours

[[upstreams]]
id = "up"
base_url = "http://127.0.0.1:9/v1" # [[models]]

# The large one, "checked" in May.
[[models]]
id = "acme/large"   # as they call it
name = '''
[[models]] "Large"'''
kind = "chat"
route = [
  "local:large", # ours first ]
  { to = "up:large", cost = { input_pusd = 1, output_pusd = 2 } },
]
context_tokens = 200_000
max_output_tokens = 64_000
input_pusd = 2_000_000 # too dear?
output_pusd = 15_000_000
reasoning_pusd = 99
terminal = true

# over a line
[[models.bands]]
above_input_tokens = 100_000
input_pusd = 5
# of the first model, too
[[models.tiers]]
name = "flex"
output_pusd = 3

[limits]
rpm = 100 # all keys

[[models]]
id = "acme/small"
kind = "chat"
route = ["up:small"]
context_tokens = 1000
max_output_tokens = 100
input_pusd = 1
output_pusd = 2

[[upstreams]]
id = "local"
base_url = "http://127.0.0.1:8/v1"`

const large: ModelEntry = {
  id: 'acme/large',
  kind: 'chat',
  context_tokens: 200_000n,
  max_output_tokens: 32_000n,
  input_pusd: 3_240_000n,
  output_pusd: 15_000_000n,
  cache_read_pusd: 300_000n,
  features: ['streaming'],
  route: [{ to: 'up:large-2', cost: { input_pusd: 3_000_000n, output_pusd: 15_000_000n } }],
  bands: [{ above_input_tokens: 200_000n, input_pusd: 6_000_000n }],
}
const fresh: ModelEntry = { ...large, id: 'acme/new', name: 'New "one"\\', route: ['up:new'] }

describe('models in the text of a configuration file', () => {
  test('statements begin and end where a TOML parser says', () => {
    const found = statementsOf(text).map(({ kind, name }) => (kind === 'pair' ? name : `[${name}]`))
    expect(found.filter((name) => name.startsWith('['))).toEqual([
      '[upstreams]',
      '[models]',
      '[models.bands]',
      '[models.tiers]',
      '[limits]',
      '[models]',
      '[upstreams]',
    ])
    for (const { kind, valueStart, valueEnd } of statementsOf(text)) {
      if (kind === 'pair')
        expect(() => parse(`x = ${text.slice(valueStart, valueEnd)}`)).not.toThrow()
    }
  })

  promise`O6`
  test('change and are added; comments, order and the rest stay', () => {
    const diff = diffModels(rawModels(text), [large, fresh], 'up')
    expect(diff.unchanged).toBe(0)
    const written = withModels(text, diff.changed, diff.added) ?? ''
    const lines = (of: string) => of.split('\n')
    const gone = lines(text).filter((line) => !lines(written).includes(line))
    expect(gone).toEqual([
      '  { to = "up:large", cost = { input_pusd = 1, output_pusd = 2 } },',
      'input_pusd = 2_000_000 # too dear?',
      'reasoning_pusd = 99',
      'above_input_tokens = 100_000',
      'input_pusd = 5',
      '[[models.tiers]]',
      'name = "flex"',
      'output_pusd = 3',
    ])
    expect(written).toContain('input_pusd = 3_240_000 # too dear?')
    expect(written).toContain('# of the first model, too')
    expect(written.indexOf('[[models.bands]]')).toBeLessThan(written.indexOf('[limits]'))
    const [first, small, last] = rawModels(written)
    expect(first).toMatchObject({
      terminal: true,
      name: '[[models]] "Large"',
      input_pusd: 3_240_000n,
      cache_read_pusd: 300_000n,
      // The name of the operator's step stays; its cost is new.
      route: [
        'local:large',
        { to: 'up:large', cost: { input_pusd: 3_000_000n, output_pusd: 15_000_000n } },
      ],
      bands: [{ above_input_tokens: 200_000n, input_pusd: 6_000_000n }],
    })
    for (const name of ['reasoning_pusd', 'tiers', 'features'])
      expect(first).not.toHaveProperty(name)
    expect(small).toEqual(rawModels(text)[1])
    expect(last).toEqual(fresh)
    expect(diffModels(rawModels(written), [large, fresh], 'up')).toMatchObject({
      added: [],
      changed: [],
      unchanged: 2,
    })
  })

  test('that are routed elsewhere or of another kind stay as they are, and it is said', () => {
    const other = { ...large, id: 'acme/small', kind: 'embedding' }
    expect(diffModels(rawModels(text), [large, other], 'other').left).toEqual([
      { id: 'acme/large', why: 'its route does not name this upstream' },
      { id: 'acme/small', why: 'its kind is not embedding' },
    ])
  })

  test('what cannot be changed safely is not changed', () => {
    const inline = 'models = [{ id = "acme/large", input_pusd = 1 }]\n'
    const change = { id: 'acme/large', set: { input_pusd: 2n }, remove: [] }
    expect(withModels(inline, [change], [])).toBeUndefined()
    expect(withModels(inline, [], [fresh])).toBeUndefined()
  })

  test.each(['', '\r\n', '# only a comment', '[limits]\nrpm = 1'])(
    'are added to a file of %j',
    (file) => {
      const written = withModels(file, [], [fresh, large]) ?? ''
      expect(rawModels(written)).toEqual([fresh, large])
      expect(written.startsWith(file.trimEnd())).toBe(true)
    },
  )

  test('an entry is TOML that says what it is', () => {
    expect(rawModels(entryText(fresh))).toEqual([fresh])
  })
})
