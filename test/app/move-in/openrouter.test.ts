import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawModels } from '../../../src/config/model-text.ts'
import { commandHome } from '../../support/commands.ts'

setDefaultTimeout(120_000)

const account = `0x${'c3'.repeat(20)}`

describe('counterfoil import openrouter', () => {
  const home = commandHome()
  afterAll(home.remove)
  const at = (name: string) => join(home.folder, name)

  test('Keys and credits of OpenRouter come over once, and its activity names models and spending.', async () => {
    const key = (n: number, more: object) => ({
      ...{
        hash: `${n}`.repeat(64).slice(0, 64),
        name: `key ${n}`,
        label: 'sk-or-v1-…',
        disabled: false,
      },
      ...{ limit: 100, limit_remaining: 74.5, limit_reset: null, usage: 25.5, expires_at: null },
      ...{ created_at: '2026-02-03T04:05:06Z', ...more },
    })
    const keys = [
      key(1, {}),
      key(2, { limit: 3, limit_reset: 'daily' }),
      key(3, { disabled: true }),
      key(4, { limit: null, limit_remaining: null }),
    ]
    writeFileSync(at('keys.json'), JSON.stringify({ data: keys }))
    const credits = '{"data":{"total_credits":500,"total_usage":123.456789012}}'
    writeFileSync(at('credits.json'), credits)
    const header = 'generation_id,created_at,cost_total,model_permaslug,api_key_name'
    const line = (cost: string, model: string) => `gen-1,2026-01-01 00:00:00,${cost},${model},key 1`
    const lines = [line('0.00125', 'openai/gpt-4o-2024-08-06'), line('0.5', 'made/up')]
    writeFileSync(at('activity.csv'), `${[header, ...lines].join('\n')}\n`)
    const files = ['activity.csv', 'keys.json', 'credits.json'].map(at)
    const run = () => {
      const done = home.run('import', 'openrouter', ...files, '--account', account, '--json')
      expect(done.stderr).toBe('')
      return JSON.parse(done.stdout)
    }
    const first = run()
    expect(first).toMatchObject({
      ...{ keys: { created: 4 }, granted_nusd: 376_543_210_988 },
      activity: [{ name: 'key 1', spent_nusd: 501_250_000 }],
      models: { added: ['openai/gpt-4o-2024-08-06'] },
    })
    expect(JSON.stringify(first.left)).toContain('made/up')
    expect(run()).toMatchObject({ granted_nusd: 0, keys: { created: 0, updated: 0 } })
    await using office = await home.office()
    const shown = await office.keys.list(account, office.clock.now())
    const caps = new Map(shown.map((one) => [one.key.name, one.key]))
    expect(caps.get('key 1')).toMatchObject({ capLimit: 74_500_000_000n, capWindow: 'lifetime' })
    expect(caps.get('key 2')).toMatchObject({ capLimit: 3_000_000_000n, capWindow: 'day' })
    expect(caps.get('key 4')?.capLimit).toBe(376_543_210_988n)
    const [model] = rawModels(readFileSync(at('counterfoil.toml'), 'utf8'))
    expect(model?.['route']).toEqual(['openrouter:openai/gpt-4o-2024-08-06'])
  })
})
