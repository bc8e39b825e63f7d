import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mapFile } from '../../storage/slots/shards.ts'
import { commandHome } from '../../support/commands.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { litellmDump } from './fixtures.ts'
import { account } from './plans.ts'
import { key, readTexts, user } from './texts.ts'

setDefaultTimeout(120_000)

const secret = 'hunter2secret'

test('A source that is not a file is never shown: addresses of databases hold passwords.', () => {
  const home = commandHome()
  const places = [
    `root:${secret}@tcp(127.0.0.1:3306)/oneapi`,
    `host=localhost user=root password=${secret} dbname=new-api`,
    `postgresql+asyncpg://llm:${secret}@127.0.0.1:1/litellm`,
    `mysql://root:${secret}@127.0.0.1/oneapi`,
    `postgres://root:${secret}/@127.0.0.1:1/oneapi`,
    `Server=127.0.0.1;Uid=root;Pwd=${secret}`,
  ]
  for (const [at, place] of places.entries()) {
    const more = [[], ['--account', account], ['--dry-run']][at % 3] ?? []
    const { code, stdout, stderr } = home.run('import', 'new-api', place, ...more)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).not.toContain(secret)
    expect(stderr).toMatch(/Sources are files, or postgres:|a database cannot be read/)
  }
  const file = join(home.folder, 'rows.json')
  writeFileSync(file, JSON.stringify({ LiteLLM_UserTable: [user('u')] }))
  for (const option of ['--map', '--prices']) {
    const { stderr } = home.run('import', 'litellm', file, option, places[0] ?? '')
    expect(stderr).toContain('a source cannot be read as')
    expect(stderr).not.toContain(secret)
  }
  const misplaced = home.run('import', places[0] ?? '', file)
  expect([misplaced.code, misplaced.stderr.includes(secret)]).toEqual([2, false])
  expect(misplaced.stderr).toContain('name the gateway first')
  home.remove()
})

test('A service with shards is refused, and told why, before its database is opened.', () => {
  const home = commandHome()
  const file = join(home.folder, 'rows.json')
  writeFileSync(file, JSON.stringify({ LiteLLM_UserTable: [user('u', { max_budget: 8 })] }))
  const shard = `[shard]\nid = "s3"\nmap = "${mapFile()}"\n`
  writeFileSync(join(home.folder, 'counterfoil.toml'), `base_url = "https://a.example"\n${shard}`)
  for (const more of [[], ['--dry-run'], ['--separate']]) {
    const refused = home.run('import', 'litellm', file, '--account', account, ...more)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('this service has [shard]')
    expect(refused.stderr).toContain('would book them twice')
    expect(refused.stderr).toContain('Nothing was changed')
  }
  home.remove()
})

test('A page of a list is refused, and the budget of a whole proxy is named.', async () => {
  const page = { keys: [key(1)], total_count: 250, current_page: 1, total_pages: 3 }
  expect(await outcomeOf(readTexts('litellm', page))).toThrow('one of 3 pages')
  const { keys } = await readTexts('litellm', { ...page, total_pages: 1 })
  expect(keys).toHaveLength(1)
  const text = 'model_list: []\nlitellm_settings: { max_budget: 100 }\n'
  const { misfits } = await readTexts('litellm', text)
  expect(misfits.get('a setting without a counterpart')).toEqual(['max_budget'])
})

describe('a dump of several databases', () => {
  const one = litellmDump({
    LiteLLM_UserTable: [user('u', { max_budget: 8 })],
    LiteLLM_VerificationToken: [key(1, { user_id: 'u' })],
  })
  const other = litellmDump({ LiteLLM_UserTable: [user('staging', { max_budget: 1000 })] })

  test.each([
    [`\\connect prod\n\n${one}\n\\connect staging\n\n${other}`, 'prod, staging'],
    [
      `-- PostgreSQL database cluster dump\n\\connect template1\n${one}\\connect "b-2"\n${other}`,
      'template1, b-2',
    ],
    [
      `\\connect -reuse-previous=on "dbname='prod'"\n${one}\n${other}`,
      'several databases (prod, number 2)',
    ],
    [`${one}${other}`, 'the first, number 2'],
  ])('It is refused, with the names that it has.', async (text, names) => {
    expect(await outcomeOf(readTexts('litellm', text))).toThrow(names)
  })

  test('A table that stands there twice is refused by its name.', async () => {
    const [, copies = ''] = other.split('dump\n--\n')
    const refused = readTexts('litellm', `${one}${copies}`)
    expect(await outcomeOf(refused)).toThrow('the table LiteLLM_UserTable twice')
  })

  test('One database among others without its tables is read.', async () => {
    const empty = '\\connect postgres\n\n--\n-- PostgreSQL database dump\n--\n'
    const { owners } = await readTexts('litellm', `${empty}\\connect prod\n${one}\n${empty}`)
    expect(owners.map(({ id }) => id)).toEqual(['user/u'])
  })
})
