import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changeKey } from '../../../src/access/keys/change.ts'
import { parseUsd } from '../../../src/kernel/money.ts'
import { grantOnce } from '../../../src/ledger/grant-once.ts'
import { grantsBetween } from '../../../src/ledger/store/grants.ts'
import { commandHome } from '../../support/commands.ts'
import { budgetOf, litellmRows, spentOf } from './fixtures.ts'

setDefaultTimeout(120_000)

const account = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`

const nusd = (text: string): bigint => parseUsd(text) ?? -1n

/** Two users and four keys. */
function fewRows() {
  const { LiteLLM_UserTable: users, LiteLLM_VerificationToken: keys } = litellmRows()
  const few = keys.filter(({ user_id: id }) => id === 'user-1' || id === 'user-2').slice(0, 4)
  return { LiteLLM_UserTable: users.slice(0, 2), LiteLLM_VerificationToken: few }
}

describe('counterfoil import', () => {
  let home = commandHome()
  afterEach(() => {
    home.remove()
    home = commandHome()
  })
  const at = (name: string) => join(home.folder, name)
  const run = (...args: string[]) => home.run('import', 'litellm', ...args)
  const write = (name: string, rows: object) => {
    writeFileSync(at(name), JSON.stringify(rows))
    return at(name)
  }
  const balanceOf = async (name: string) => {
    await using office = await home.office()
    return (await office.accounts.find(name))?.balance ?? 0n
  }

  test('A map of users names ids alone: others are refused by name, and nothing is changed.', async () => {
    const rows = write('rows.json', fewRows())
    const map = (text: string) => {
      writeFileSync(at('users.csv'), `user,address\n${text}`)
      return run(rows, '--map', at('users.csv'), '--json')
    }
    const refused = map(`user-1,${account}\nu2@a.example,${other}\nghost,${other}\n`)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('"u2@a.example", "ghost"')
    expect(existsSync(at('moved-keys.csv'))).toBe(false)

    const done = map(`user-1,${account}\nuser/user-2,${other}\n`)
    expect(JSON.parse(done.stdout)).toMatchObject({ keys: { created: 6 } })
    const left = [1, 2].map((n) => nusd(budgetOf(n)) - nusd(spentOf(n)))
    expect(await Promise.all([account, other].map(balanceOf))).toEqual(left)
  })

  test('Budgets have what is left, in one account or in two, and a user in two lines is refused.', async () => {
    const rows = fewRows()
    for (const user of rows.LiteLLM_UserTable) Object.assign(user, { budget_duration: '30d' })
    const map = (text: string, ...args: string[]) => {
      writeFileSync(at('users.csv'), `user,address\n${text}`)
      return run(write('rows.json', rows), '--map', at('users.csv'), '--json', ...args)
    }
    const renewed = 'its budget is renewed there; here it has what is left'
    const shares = (done: { stdout: string }) =>
      JSON.parse(done.stdout).left.find(({ why }: { why: string }) => why === renewed)?.what
    const both = ['user/user-1', 'user/user-2']
    const lines = `user-1,${account}\nuser-2,${account}\n`
    expect(shares(map(lines, '--dry-run'))).toEqual(both)
    expect(shares(map(`user-1,${account}\nuser-2,${other}\n`, '--dry-run'))).toEqual(both)
    const twice = map(`user-1,${account}\nuser/user-1,${other}\n`)
    expect([twice.code, twice.stdout]).toEqual([1, ''])
    expect(twice.stderr).toContain('"user-1", "user/user-1"')
  })

  test('Users of one database come over once under whichever name, and a limit that was raised stays.', async () => {
    const rows = fewRows()
    const again = (...args: string[]) =>
      run(write('rows.json', rows), '--account', account, '--json', ...args)
    expect(again().code).toBe(0)
    const twice = again('--as', 'eu', '--secrets', at('eu.csv'))
    expect([twice.code, twice.stdout]).toEqual([1, ''])
    expect(twice.stderr).toContain('user/user-1 or a key of it came over as litellm before')
    expect(
      JSON.parse(again('--as', 'eu', '--separate', '--dry-run', '--secrets', at('eu.csv')).stdout),
    ).toMatchObject({
      keys: { created: 6 },
    })
    const [key] = rows.LiteLLM_VerificationToken
    const keyNow = async () => {
      await using office = await home.office()
      const shown = await office.keys.list(account, office.clock.now())
      return shown.map((one) => one.key).find(({ name }) => name === key?.key_alias)
    }
    const { id: keyId = '', capLimit: before = 0n } = (await keyNow()) ?? {}
    {
      await using office = await home.office()
      for (const capLimit of [before / 4n, before / 2n]) {
        await changeKey(office, { keyId, actor: 'operator', change: { capLimit, rpm: 7 } })
      }
    }
    if (key) Object.assign(key, { max_budget: 0.5, rpm_limit: 3 })
    const later = again()
    expect(JSON.parse(later.stdout)).toMatchObject({ keys: { changed: 1 } })
    expect(later.stdout).toContain('its cap was raised here')
    expect(await keyNow()).toMatchObject({ capLimit: before / 2n, rpm: 3 })
  })

  test('No name writes lines or escapes into a report, and none shows a secret of a key.', () => {
    const rows = fewRows()
    const [first, second] = rows.LiteLLM_VerificationToken
    const [user] = rows.LiteLLM_UserTable
    const odd = '\u001b[2J\u009b\u202e\nPaused: forged'
    if (first) Object.assign(first, { key_alias: `a${odd}`, blocked: true })
    if (second) second.key_alias = 'agent hash-of-"a\\b'
    if (user) Object.assign(user, { password: 'hash-of-"a\\b' })
    const done = run(write('rows.json', rows), '--account', account)
    expect(done.code).toBe(0)
    expect(done.stderr).toContain('Paused: forged')
    expect(done.stderr).not.toMatch(/[^\P{C}\n]|^Paused: forged/mu)
    expect(readFileSync(at('moved-keys.csv'), 'utf8')).toContain('agent [redacted]')
    const large = { ...user, user_id: `u${odd}`, max_budget: 9_500_000, password: null }
    const args = [write('large.json', { LiteLLM_UserTable: [large] }), '--account', account]
    const refused = run(...args, '--new-owners', `user/u${odd}`)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('The largest part is of')
    expect(refused.stderr).not.toMatch(/[^\P{C}\n]|^Paused/mu)
  })

  test('One export handed over twice is one; two that differ are refused.', async () => {
    const rows = fewRows()
    const one = write('one.json', rows)
    const done = run(one, write('same.json', rows), '--account', account, '--json')
    expect(JSON.parse(done.stdout)).toMatchObject({ keys: { created: 6 } })
    const [user] = rows.LiteLLM_UserTable
    if (user) user.max_budget += 1
    const refused = run(one, write('later.json', rows), '--account', account)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toContain('stands there twice, and differs')
  })

  test('A balance is booked once ever, of two imports at once and long after too.', async () => {
    await using office = await home.office()
    const id = 'req_0000000000aaaaaaaaaaaaaaaa'
    const wish = { id, source: 'x/user/1', reason: 'moved in', actor: 'operator', amount: 5n }
    const both = await Promise.all([1, 2].map(() => grantOnce(office, { ...wish, account })))
    expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true])
    const late = { ...office, clock: { ...office.clock, now: () => Date.now() + 1e12 } }
    expect(await grantOnce(late, { ...wish, account, amount: 9n })).toMatchObject({ amount: 5n })
    expect(await grantOnce(office, { ...wish, account: other })).toEqual({
      ...{ account, amount: 5n, isNew: false },
    })
    expect((await office.accounts.find(account))?.balance).toBe(5n)
    expect((await office.accounts.find(other))?.balance ?? 0n).toBe(0n)
    expect([...(await grantsBetween(office.db, id, `${id}z`))]).toEqual([
      [id, { account, amount: 5n, source: 'x/user/1' }],
    ])
  })

  test('A name that a spreadsheet would run is a text in the file of secrets, and one like a secret is shown nowhere.', () => {
    const rows = fewRows()
    const [first, second] = rows.LiteLLM_VerificationToken
    if (first) first.key_alias = '=HYPERLINK("http://evil.example")'
    if (second) Object.assign(second, { key_alias: 'sk-live-0123456789abcdef', blocked: true })
    const done = run(write('rows.json', rows), '--account', account)
    expect(done.code).toBe(0)
    expect(done.stdout + done.stderr).not.toContain('sk-live-0123456789abcdef')
    expect(done.stderr).toContain('a key: it is blocked')
    const file = readFileSync(at('moved-keys.csv'), 'utf8')
    expect(file).toContain('"\'=HYPERLINK(""http://evil.example"")"')
    expect(file).not.toContain('sk-live')
  })

  test('Without a place for the new secrets nothing is changed, and none are left behind.', async () => {
    const rows = write('rows.json', fewRows())
    const args = [rows, '--account', account, '--secrets']
    const refused = run(...args, at('missing/keys.csv'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('cannot be made for the new secrets (ENOENT)')
    writeFileSync(at('taken.csv'), 'mine')
    expect(run(...args, at('taken.csv')).stderr).toContain('name another file')
    expect(readFileSync(at('taken.csv'), 'utf8')).toBe('mine')
    expect(await balanceOf(account)).toBe(0n)
    expect(existsSync(at('counterfoil.toml'))).toBe(false)
  })

  const server = process.env['TEST_DATABASE_URL']

  test.skipIf(!server)(
    'Tables of a PostgreSQL database say the same as their rows in JSON.',
    async () => {
      const rows = fewRows()
      const schema = `move_in_${process.pid}`
      await using sql = new Bun.SQL(server ?? '')
      await sql.unsafe(`create schema ${schema}`)
      try {
        for (const [name, list] of Object.entries(rows)) {
          const columns = Object.keys(list[0] ?? {}).map((column) =>
            /^(max_budget|spend)$/.test(column)
              ? `${column} double precision`
              : column === 'models'
                ? 'models text[]'
                : `${column} text`,
          )
          await sql.unsafe(`create table ${schema}."${name}" (${columns.join(', ')})`)
          await sql.unsafe(
            `insert into ${schema}."${name}" select * from json_populate_recordset(null::${schema}."${name}", $1::text::json)`,
            [JSON.stringify(list)],
          )
        }
        const place = `${server}?schema=${schema}`
        const done = run(place, '--account', account, '--json')
        expect(JSON.parse(done.stdout)).toMatchObject({ keys: { created: 6 } })
        const again = run(write('rows.json', rows), '--account', account, '--json')
        expect(JSON.parse(again.stdout)).toMatchObject({
          ...{ granted_usd: '0.00', keys: { created: 0, changed: 0, unchanged: 6 } },
        })
      } finally {
        await sql.unsafe(`drop schema ${schema} cascade`)
      }
      const wrong = run('postgres://me:sk-upstream-a@127.0.0.1:1/none', '--account', account)
      expect(wrong.code).toBe(1)
      expect(wrong.stderr).toContain('the database at 127.0.0.1')
      expect(wrong.stderr).not.toContain('sk-upstream-a')
    },
  )
})
