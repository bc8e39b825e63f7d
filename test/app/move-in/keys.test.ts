import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseUsd } from '../../../src/kernel/money.ts'
import { commandHome } from '../../support/commands.ts'
import {
  budgetOf,
  litellmDump,
  litellmRows,
  openrouterKeys,
  quotaOf,
  sourceSecrets,
  spentOf,
  tokenOf,
  users,
  writeOneApi,
} from './fixtures.ts'

setDefaultTimeout(180_000)

const account = `0x${'a1'.repeat(20)}`
const nusd = (text: string): bigint => parseUsd(text) ?? -1n
const due = users.map((n) => nusd(budgetOf(n)) - nusd(spentOf(n)))
const sum = (all: readonly bigint[]) => all.reduce((one, other) => one + other, 0n)

describe('counterfoil import, keys and balances', () => {
  let home = commandHome()
  afterEach(() => {
    home.remove()
    home = commandHome()
  })
  const at = (name: string) => join(home.folder, name)
  const run = (...args: string[]) => {
    const done = home.run('import', ...args)
    for (const secret of [...sourceSecrets, tokenOf(1)]) {
      expect(done.stdout + done.stderr).not.toContain(secret)
    }
    return done
  }
  const moveIn = (...args: string[]) => {
    const done = run(...args, '--json')
    expect(done.stderr).toBe('')
    return JSON.parse(done.stdout)
  }
  const stored = async () => {
    await using office = await home.office()
    const shown = await office.keys.list(account, office.clock.now())
    const balance = (await office.accounts.find(account))?.balance ?? 0n
    return { keys: shown.map(({ key }) => key), balance }
  }
  const bytes = () =>
    readdirSync(home.folder, { recursive: true })
      .map(String)
      .filter((name) => statSync(at(name)).isFile() && !name.endsWith('-shm'))
      .sort()
      .map((name) => [name, Bun.hash(readFileSync(at(name)))])

  test('200 keys of LiteLLM come over with balances to the last digit; a dry run writes nothing', async () => {
    writeFileSync(at('keys.json'), JSON.stringify(litellmRows()))
    const args = ['litellm', at('keys.json'), '--account', account]
    const before = bytes()
    const dry = moveIn(...args, '--dry-run')
    expect(dry).toMatchObject({ dry_run: true, keys: { created: 210 }, max_keys: { free: 210 } })
    expect(bytes()).toEqual(before)

    const first = moveIn(...args)
    expect(first).toMatchObject({ keys: { created: 210 }, max_keys: { free: 210 } })
    const { keys, balance } = await stored()
    expect(balance).toBe(sum(due))
    expect(nusd(first.granted_usd)).toBe(sum(due))
    expect(nusd(first.spent_there_usd)).toBe(sum(users.map((n) => nusd(spentOf(n)))))
    const parents = keys.filter(({ parentId }) => parentId === null)
    expect(parents.map(({ capLimit }) => capLimit).sort()).toEqual(due.toSorted())
    const named = new Map(keys.map((key) => [key.name, key]))
    const parentOf2 = named.get('litellm user-2')
    // Without a cap it has the balance; else what is left, or all of it each month.
    expect(named.get('agent 21')).toMatchObject({ capLimit: due[1], parentId: parentOf2?.id })
    expect(named.get('agent 1')).toMatchObject({ capLimit: 5_250_000_000n, rpm: null })
    expect(named.get('agent 10')).toMatchObject({ capLimit: 5_500_000_000n, capWindow: 'month' })
    expect(named.get('agent 2')).toMatchObject({ models: ['gpt-4'], rpm: 60 })

    const file = readFileSync(at('moved-keys.csv'), 'utf8')
    expect(statSync(at('moved-keys.csv')).mode & 0o777).toBe(0o600)
    expect(new Set(file.match(/sk-service-\w+/g)).size).toBe(210)
    for (const secret of [...sourceSecrets, tokenOf(1)]) expect(file).not.toContain(secret)

    const after = bytes()
    expect(moveIn(...args)).toMatchObject({
      ...{ granted_usd: '0.00', keys: { created: 0, changed: 0, stopped: 0, unchanged: 210 } },
      ...{ models: { added: [] }, max_keys: {} },
    })
    expect(await stored()).toEqual({ keys, balance })
    expect(bytes().filter(([name]) => !String(name).includes('db'))).toEqual(
      after.filter(([name]) => !String(name).includes('db')),
    )
  })

  test.each(['new-api', 'one-api'] as const)(
    'The users and tokens of %s come over once, and a user that owes there has nothing here',
    async (kind) => {
      writeOneApi(at('one-api.db'), kind)
      const args = [kind, at('one-api.db'), '--account', account, '--context', '128000']
      const first = moveIn(...args)
      expect(first.keys.created).toBe(10 + 199)
      const { keys, balance } = await stored()
      expect(balance).toBe(sum(users.slice(0, 9).map((n) => BigInt(quotaOf(n)) * 2000n)))
      const named = new Map(keys.map((key) => [key.name, key]))
      expect(named.get('token 1')).toMatchObject({ capLimit: 1_000_002_000n, models: [] })
      expect(named.get('token 4')).toMatchObject({ capLimit: BigInt(quotaOf(5)) * 2000n })
      expect(named.get('token 2')?.models).toEqual(['team-model-1', 'team-model-2'])
      expect(named.get('token 9')).toMatchObject({ capLimit: 1n })
      const why = first.left.map((one: { why: string }) => one.why)
      expect(why).toContain('a negative balance becomes zero')
      expect(why).toContain('a key: it is disabled')
      expect(moveIn(...args)).toMatchObject({
        ...{ granted_usd: '0.00', models: { added: [] }, upstreams: [] },
        keys: { created: 0, changed: 0, stopped: 0 },
      })
      expect(await stored()).toEqual({ keys, balance })
    },
  )

  test('Keys and credits of OpenRouter come over once, and its activity names models and spending.', async () => {
    writeFileSync(at('keys.json'), JSON.stringify({ data: openrouterKeys() }))
    const credits = '{"data":{"total_credits":500,"total_usage":123.456789012}}'
    writeFileSync(at('credits.json'), credits)
    const header = 'generation_id,created_at,cost_total,model_permaslug,api_key_name'
    const line = (cost: string, model: string) => `gen-1,2026-01-01 00:00:00,${cost},${model},key 1`
    const lines = [line('0.00125', 'openai/gpt-4o-2024-08-06'), line('0.5', 'made/up')]
    writeFileSync(at('activity.csv'), `${[header, ...lines].join('\n')}\n`)
    const files = ['activity.csv', 'keys.json', 'credits.json'].map(at)
    const args = ['openrouter', ...files, '--account', account]
    const first = moveIn(...args)
    expect(first).toMatchObject({
      ...{ keys: { created: 200 }, granted_usd: '376.543210988' },
      activity: [{ name: 'key 1', spent_usd: '0.50125' }],
      models: { added: ['openai/gpt-4o-2024-08-06'] },
    })
    expect(JSON.stringify(first.left)).toContain('made/up')
    const { keys, balance } = await stored()
    expect(balance).toBe(376_543_210_988n)
    const named = new Map(keys.map((key) => [key.name, key]))
    expect(named.get('key 1')).toMatchObject({ capLimit: 74_500_000_000n, capWindow: 'lifetime' })
    expect(named.get('key 3')).toMatchObject({ capLimit: 100_000_000_000n, capWindow: 'day' })
    expect(named.get('key 4')?.capLimit).toBe(376_543_210_988n)
    expect(moveIn(...args)).toMatchObject({ granted_usd: '0.00', keys: { created: 0, changed: 0 } })
  })

  test('A dump as SQL says the same as rows in JSON: nothing is doubled between them.', async () => {
    writeFileSync(at('dump.sql'), litellmDump())
    writeFileSync(at('keys.json'), JSON.stringify(litellmRows()))
    moveIn('litellm', at('dump.sql'), '--account', account)
    const before = await stored()
    expect(moveIn('litellm', at('keys.json'), '--account', account)).toMatchObject({
      ...{ granted_usd: '0.00', keys: { created: 0, changed: 0, stopped: 0 } },
    })
    expect(await stored()).toEqual(before)
  })
})
