import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawAliases } from '../../../src/config/list-text.ts'
import { rawModels, rawUpstreams } from '../../../src/config/model-text.ts'
import { parseUsd } from '../../../src/kernel/money.ts'
import { commandHome } from '../../support/commands.ts'
import {
  budgetOf,
  litellmDump,
  litellmRows,
  modelIds,
  quotaOf,
  spentOf,
  tokenOf,
  writeLitellmConfig,
  writeNewApi,
} from './fixtures.ts'

setDefaultTimeout(120_000)

const account = `0x${'a1'.repeat(20)}`
const usersOf = Array.from({ length: 10 }, (_, i) => i + 1)

describe('counterfoil import', () => {
  let home = commandHome()
  afterEach(() => {
    home.remove()
    home = commandHome()
  })
  const at = (name: string) => join(home.folder, name)
  const moveIn = (...args: string[]) => {
    const done = home.run('import', ...args, '--json')
    expect(done.stderr).toBe('')
    return JSON.parse(done.stdout)
  }
  const stored = async () => {
    await using office = await home.office()
    const shown = await office.keys.list(account, office.clock.now())
    const balance = (await office.accounts.find(account))?.balance ?? 0n
    return { keys: shown.map(({ key }) => key), balance }
  }

  test('50 models and 200 keys of LiteLLM come over, with balances to the last digit', async () => {
    writeLitellmConfig(at('config.yaml'))
    writeFileSync(at('keys.json'), JSON.stringify(litellmRows()))
    const files = [at('config.yaml'), at('keys.json'), '--account', account]
    const before = readdirSync(home.folder)
    const dry = moveIn('litellm', ...files, '--dry-run')
    expect(dry).toMatchObject({ dry_run: true, keys: { created: 210, present: 0 } })
    expect(readdirSync(home.folder)).toEqual(before)
    expect(await stored()).toEqual({ keys: [], balance: 0n })

    const first = moveIn('litellm', ...files)
    expect(first.models.added).toEqual(modelIds)
    expect(first).toMatchObject({ keys: { created: 210 }, max_keys: { free: 210 } })
    const due = usersOf.map((n) => nusd(budgetOf(n)) - nusd(spentOf(n)))
    const total = due.reduce((all, one) => all + one, 0n)
    expect(first.spent_there_nusd).toBe(
      Number(usersOf.reduce((all, n) => all + nusd(spentOf(n)), 0n)),
    )
    const { keys, balance } = await stored()
    expect(balance).toBe(total)
    expect(first.granted_nusd).toBe(Number(total))
    const parents = keys.filter(({ parentId }) => parentId === null)
    expect(parents.map(({ capLimit }) => capLimit).sort()).toEqual(due.toSorted())
    const children = keys.filter(({ parentId }) => parentId !== null)
    expect(children.length).toBe(200)
    const named = new Map(children.map((key) => [key.name, key]))
    const parentOf2 = parents.find(({ name }) => name === 'litellm user-2')
    // Without a cap it has the balance; else what is left, or all of it each month.
    expect(named.get('agent 21')).toMatchObject({ capLimit: due[1], parentId: parentOf2?.id })
    expect(named.get('agent 1')).toMatchObject({ capLimit: 5_250_000_000n, rpm: null })
    expect(named.get('agent 10')).toMatchObject({ capLimit: 5_500_000_000n, capWindow: 'month' })
    expect(named.get('agent 2')).toMatchObject({ models: ['team-model-2'], rpm: 60 })

    const toml = readFileSync(at('counterfoil.toml'), 'utf8')
    const models = rawModels(toml)
    expect(models.map(({ id }) => id)).toEqual(modelIds)
    // The dearer of its two servers is what it is sold at.
    expect(models[0]).toMatchObject({
      ...{ input: '$0.20/M', output: '$0.60/M', context_tokens: 100_000n },
      route: [{ to: 'openai:team-model-1' }, 'openai-2:team-model-1'],
    })
    expect(models[1]).toMatchObject({ input: '$0.15/M', route: ['openai:team-model-2'] })
    expect(rawAliases(toml)).toEqual({ 'gpt-4': 'team-model-2' })
    expect(rawUpstreams(toml)[0]).toMatchObject({ id: 'openai', api_key_env: 'OPENAI_API_KEY' })
    const left = first.left.map(({ what }: { what: string[] }) => what.join()).join(' ')
    for (const name of ['anything/*', 'cloud', 'lost', 'fallbacks']) expect(left).toContain(name)

    const secrets = readFileSync(at('moved-keys.csv'), 'utf8').trim().split('\n')
    expect(secrets.length).toBe(211)
    expect(statSync(at('moved-keys.csv')).mode & 0o777).toBe(0o600)
    expect(new Set(secrets.map((line) => /sk-service-\w+/.exec(line)?.[0])).size).toBe(211)
    expect(toml + secrets.join('')).not.toContain(tokenOf(1))
  })

  test('A second run of an import updates what changed there and doubles nothing.', async () => {
    const rows = litellmRows()
    writeFileSync(at('dump.sql'), litellmDump())
    moveIn('litellm', at('dump.sql'), '--account', account)
    const first = await stored()
    const secrets = readFileSync(at('moved-keys.csv'), 'utf8')
    const again = moveIn('litellm', at('dump.sql'), '--account', account)
    expect(again).toMatchObject({ granted_nusd: 0, keys: { created: 0, updated: 0 } })
    expect(await stored()).toEqual(first)
    expect(readFileSync(at('moved-keys.csv'), 'utf8')).toBe(secrets)

    const [user, key] = [rows.LiteLLM_UserTable[0], rows.LiteLLM_VerificationToken[0]]
    if (user) user.max_budget += 7
    if (key) key.max_budget = 4.5
    writeFileSync(at('keys.json'), JSON.stringify(rows))
    const third = moveIn('litellm', at('keys.json'), '--account', account)
    expect(third).toMatchObject({ granted_nusd: 7_000_000_000, keys: { created: 0 } })
    const after = await stored()
    expect(after.balance).toBe(first.balance + 7_000_000_000n)
    expect(after.keys.find(({ name }) => name === 'agent 1')?.capLimit).toBe(4_250_000_000n)

    const other = ['--account', `0x${'b2'.repeat(20)}`]
    const refused = home.run('import', 'litellm', at('keys.json'), ...other)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('before')])
  })

  test('50 models and the tokens of new-api come over, and a user that owes there has nothing here', async () => {
    writeNewApi(at('one-api.db'))
    const args = ['new-api', at('one-api.db'), '--account', account, '--context', '128000']
    const before = readFileSync(at('one-api.db'))
    const first = moveIn(...args)
    expect(first.models.added.toSorted()).toEqual(modelIds.toSorted())
    expect(first.keys.created).toBe(10 + 199)
    const { keys, balance } = await stored()
    const total = usersOf.slice(0, 9).reduce((all, n) => all + BigInt(quotaOf(n)) * 2000n, 0n)
    expect(balance).toBe(total)
    const named = new Map(keys.map((key) => [key.name, key]))
    expect(named.get('token 1')).toMatchObject({ capLimit: 1_000_002_000n, models: [] })
    expect(named.get('token 4')).toMatchObject({ capLimit: BigInt(quotaOf(5)) * 2000n })
    expect(named.get('token 2')?.models).toEqual(['team-model-1', 'team-model-2'])
    const toml = readFileSync(at('counterfoil.toml'), 'utf8')
    expect(rawModels(toml).find(({ id }) => id === 'team-model-1')).toMatchObject({
      ...{ input: '$0.15/M', output: '$0.60/M', context_tokens: 128_000n },
      route: ['openai:team-model-1', 'openai-2:large-2026'],
    })
    expect(toml).not.toContain('sk-upstream')
    const file = String(rawUpstreams(toml)[0]?.['api_key_file'])
    expect(readFileSync(file, 'utf8')).toBe('sk-upstream-b\n')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const why = first.left.map((one: { why: string }) => one.why)
    expect(why).toContain('a negative balance becomes zero')
    expect(why).toContain('a key: it is disabled')
    expect(moveIn(...args)).toMatchObject({
      ...{ granted_nusd: 0, models: { added: [], changed: [] }, upstreams: [] },
      keys: { created: 0, updated: 0 },
    })
    expect(readFileSync(at('counterfoil.toml'), 'utf8')).toBe(toml)
    expect(readFileSync(at('one-api.db')).equals(before)).toBe(true)
  })

  test('A map of users gives each an account of its own, and reports the others.', async () => {
    writeFileSync(at('dump.sql'), litellmDump())
    writeFileSync(at('users.csv'), `user,address\nu1@a.example,${account}\nghost,${account}\n`)
    const done = moveIn('litellm', at('dump.sql'), '--map', at('users.csv'))
    expect(done.keys.created).toBe(20)
    const { keys, balance } = await stored()
    expect(balance).toBe(nusd(budgetOf(1)) - nusd(spentOf(1)))
    expect(keys.every(({ parentId }) => parentId === null)).toBe(true)
    const left = JSON.stringify(done.left)
    expect(left).toContain('ghost')
    expect(left).toContain('user/user-2')
  })

  test('A broken file is named, and its run changes nothing.', async () => {
    const dump = litellmDump()
    const broken: [name: string, text: string, gateway: string][] = [
      ['cut.sql', dump.slice(0, dump.length - 300), 'litellm'],
      ['odd.json', '{"keys": [{"token": "a", "spend": "much"}]}', 'litellm'],
      ['half.json', '{"keys": [', 'litellm'],
      ['other.csv', 'a,b\n1,2\n', 'litellm'],
      ['bad.yaml', 'model_list:\n  - model_name: [\n', 'litellm'],
      ['text.db', 'not a database', 'new-api'],
    ]
    for (const [name, text, gateway] of broken) {
      writeFileSync(at(name), text)
      const done = home.run('import', gateway, at(name), '--account', account)
      expect([name, done.code, done.stdout]).toEqual([name, 1, ''])
      expect(done.stderr).toContain(name)
      expect(done.stderr).toContain('Nothing was changed.')
    }
    expect(await stored()).toEqual({ keys: [], balance: 0n })
    expect(existsSync(at('counterfoil.toml'))).toBe(false)
  })
})

const nusd = (text: string): bigint => parseUsd(text) ?? -1n
