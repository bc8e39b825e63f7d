import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rawModels } from '../../../src/config/model-text.ts'
import { program } from '../../support/program.ts'

setDefaultTimeout(60_000)

describe('counterfoil models import', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-import-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'own.toml')
  const prices = join(folder, 'prices.json')

  const run = async (args: string[], stdin = '') => {
    const command = [...program, 'models', 'import', ...args]
    const done = Bun.spawn([...command, '--config', config], {
      stdin: new TextEncoder().encode(stdin),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all(
      [done.stdout, done.stderr].map((stream) => new Response(stream).text()),
    )
    return { code: await done.exited, stdout: stdout ?? '', stderr: stderr ?? '' }
  }
  const setUp = (toml = '') => {
    writeFileSync(
      config,
      `# ours\n[[upstreams]]\nid = "up"\nbase_url = "http://127.0.0.1:9/v1"\n${toml}`,
    )
    chmodSync(config, 0o640)
    const chat = '"mode": "chat", "max_input_tokens": 1000, "max_output_tokens": 100'
    const own = `"input_cost_per_token": 1.5e-06, "output_cost_per_token": 6.25e-06`
    writeFileSync(
      prices,
      `{"acme-large": {${chat}, ${own}}, "acme-odd": {${chat}, ${own}, "output_cost_per_moon": 1e-9},
        "paint": {"mode": "image_generation"}}`,
    )
  }

  test('prints the difference as TOML, names what it refuses, and writes nothing', async () => {
    setUp()
    const before = readFileSync(config, 'utf8')
    const { code, stdout, stderr } = await run([prices, '--from', 'litellm', '--upstream', 'up'])
    expect(code).toBe(1)
    expect(rawModels(stdout)).toEqual([
      {
        id: 'acme-large',
        kind: 'chat',
        context_tokens: 1000n,
        total_tokens_max: 1100n,
        max_output_tokens: 100n,
        input_pusd: 1_500_000n,
        output_pusd: 6_250_000n,
        features: ['streaming'],
        route: ['up:acme-large'],
      },
    ])
    expect(stdout).toContain('# From litellm: 1 added, 0 changed, 0 unchanged.')
    expect(stderr).toContain('acme-odd has prices that have no meter here: output_cost_per_moon.')
    expect(stderr).toContain('1 × mode image_generation')
    expect(stderr).toContain('1 model was refused')
    expect(readFileSync(config, 'utf8')).toBe(before)
  })

  test('prints what it ignored by name, and who is configured with too little context', async () => {
    setUp(`[[models]]
id = "acme-old"
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 1_500_000
output_pusd = 6_250_000
route = ["up:acme-old"]`)
    const entry = (more: string) => `{"mode": "responses", "max_input_tokens": 1000,
      "max_output_tokens": 100, "input_cost_per_token": 1.5e-06,
      "output_cost_per_token": 6.25e-06${more}}`
    const fast = ', "provider_specific_entry": {"fast": 6, "eu": 1.2}, "supports_vision": true'
    const file = `{"acme-new": ${entry(fast)}, "acme-old": ${entry('')}}`
    const done = await run(['-', '--from', 'litellm', '--upstream', 'up'], file)
    expect(done.code).toBe(0)
    expect(rawModels(done.stdout).map(({ id }) => id)).toEqual(['acme-new'])
    for (const line of [
      '# Served by the Responses API alone: its upstream needs kind = "responses" (acme-new, acme-old).',
      '# Ignored, because no request here can ask for it: provider_specific_entry.fast (acme-new).',
      '# Ignored, because no request here can ask for it: provider_specific_entry.eu (acme-new).',
      '# Takes no images here, because their tokens have no published bound (image_tokens_max) (acme-new).',
    ]) {
      expect(done.stdout).toContain(`${line}\n`)
    }
    expect(done.stderr).toBe(
      'Check acme-old: it is configured with 1000 tokens of context, and the file has 1100 of ' +
        'input and output together. What a run uses beyond its hold is not charged.\n',
    )
  })

  test('writes what it printed, with the cost of a markup, and finds it unchanged then', async () => {
    setUp('[[plans]]\nid = "scale"\n')
    const wish = ['--from', 'litellm', '--upstream', 'up', '--markup', '8%', '--only', '*large']
    const first = await run(['-', ...wish, '--write'], readFileSync(prices, 'utf8'))
    expect([first.code, first.stderr]).toEqual([
      0,
      'Below cost: plan scale takes 10 % off, which is more than this markup. Set its discount_bps ' +
        `in [[plans]], or raise the markup.\nUpdated ${config}. Reload a running server with: kill -HUP <pid>\n`,
    ])
    const written = readFileSync(config, 'utf8')
    expect(written.startsWith('# ours\n')).toBe(true)
    expect(statSync(config).mode & 0o777).toBe(0o640)
    expect(readdirSync(folder).sort()).toEqual(['own.toml', 'own.toml.1', 'prices.json'])
    expect(rawModels(written)[0]).toMatchObject({
      input_pusd: 1_620_000n,
      output_pusd: 6_750_000n,
      route: [{ to: 'up:acme-large', cost: { input_pusd: 1_500_000n, output_pusd: 6_250_000n } }],
    })
    const again = await run([prices, ...wish])
    expect(again.stdout).toContain('0 added, 0 changed, 1 unchanged')
    writeFileSync(config, written.replace('1_620_000', '1_000_000 # old'))
    const changed = await run([prices, ...wish, '--write'])
    expect(changed.stdout).toContain('input_pusd = 1_620_000  # was 1_000_000')
    expect(readFileSync(config, 'utf8')).toBe(written.replace('1_620_000', '1_620_000 # old'))
  })

  test('refuses to write without an upstream, in words; it prints entries without a route', async () => {
    setUp()
    const wish = [prices, '--from', 'litellm', '--only', 'acme-large']
    const printed = await run(wish)
    expect(printed.code).toBe(0)
    expect(rawModels(printed.stdout)[0]).not.toHaveProperty('route')
    const refused = await run([...wish, '--write'])
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('name its upstream with --upstream')
    const unknown = await run([...wish, '--upstream', 'down'])
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      'No [[upstreams]] has the id "down". There are: up.\n',
    ])
  })

  test.each([
    [['--markup', '8'], 2, 'is not a markup'],
    [['--from', 'other'], 2, 'is not a project'],
    [[], 1, 'is not a price file of openrouter'],
  ])('says what is wrong with %j', async (args, code, words) => {
    setUp()
    const from = args.includes('--from') ? [] : ['--from', 'openrouter']
    const done = await run([prices, ...from, ...args])
    expect([done.code, done.stdout]).toEqual([code, ''])
    expect(done.stderr).toContain(words)
  })

  test('does not write a configuration that would be invalid', async () => {
    setUp()
    // The price is one that can be, the model is there with a faulty band of its own.
    const before = readFileSync(config, 'utf8')
    const list = JSON.stringify({
      data: [
        {
          id: 'acme/deep',
          context_length: 1000,
          pricing: {
            prompt: '0.1',
            completion: '0.1',
            overrides: [
              { min_prompt_tokens: 11, prompt: '0.2' },
              { min_prompt_tokens: 11, prompt: '0.3' },
            ],
          },
        },
      ],
    })
    const done = await run(['-', '--from', 'openrouter', '--upstream', 'up', '--write'], list)
    expect(done.code).toBe(1)
    expect(done.stderr).toContain('two begin above the same input')
    expect(readFileSync(config, 'utf8')).toBe(before)
  })
})
