import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChainUnavailable } from '../../../src/kernel/chain.ts'
import { toHex } from '../../../src/kernel/hex.ts'
import { readTreasury } from '../../../src/proof/liabilities/treasury.ts'
import { entriesIn } from '../../../src/verify/log-tiles.ts'
import { program } from '../../support/program.ts'
import { testAccount, usd, type World, world } from '../../support/world.ts'
import { accountOf, fund, publish } from './publishing.ts'

describe('the API of the liabilities', () => {
  let w: World
  let key: string
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-liabilities-'))
  beforeAll(async () => {
    w = await world({ now: Date.UTC(2026, 10, 20, 12) })
    key = (await w.key({ balance: 3n * usd })).secret
    await fund(w, [usd])
    expect((await w.call('/liabilities/proof', { key })).status).toBe(404)
    await publish(w)
    await publish(w)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await w.stop()
  })
  const json = async (path: string, options = {}) => {
    const answer = await w.call(path, options)
    return { status: answer.status, body: await answer.json() }
  }

  test('lists statements to everybody, and gives each as a file', async () => {
    const { body } = await json('/liabilities?limit=1')
    expect(body).toMatchObject({ object: 'list', has_more: true, first_id: '2', last_id: '2' })
    const next = await json('/liabilities?after=2')
    expect(next.body).toMatchObject({ has_more: false, data: [{ id: '1' }] })
    expect(next.body.data[0].statement.total_nusd).toBe(String(4n * usd))
    expect(body.data[0].statement.previous).toBe(next.body.data[0].digest)
    const file = await json('/liabilities/2')
    expect(file.body.statement).toEqual(body.data[0].statement)
    expect(JSON.stringify([body, file.body])).not.toContain(testAccount.slice(2, 20))
    for (const path of ['/liabilities/3', '/liabilities/0', '/liabilities/x', '/liabilities/02']) {
      expect((await json(path)).status).toBe(404)
    }
    expect((await json('/liabilities?after=7')).body.error.param).toBe('after')
    const open = await w.call('/liabilities')
    expect(open.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('proves to a key what its account is owed, and to no other', async () => {
    expect((await json('/liabilities/proof')).status).toBe(401)
    const none = await w.key({ scopes: ['runs:write'] })
    expect((await json('/liabilities/proof', { key: none.secret })).status).toBe(403)
    const { body } = await json('/liabilities/proof?number=1', { key })
    expect(body.own.balance_nusd).toBe(String(3n * usd))
    expect(body.own.account.toLowerCase()).toBe(testAccount)
    expect(JSON.stringify(body)).not.toContain(accountOf(1))
    expect((await json('/liabilities/proof?number=9', { key })).status).toBe(404)
    expect((await json('/liabilities/proof?number=x', { key })).status).toBe(400)
  })

  test('is in the tiles of the log', async () => {
    const { body } = await json('/liabilities/2')
    const { index, checkpoint } = body.log
    const bytes = await (await w.call(`/log/tile/entries/000.p/${checkpoint.size}`)).arrayBuffer()
    const entry = entriesIn(new Uint8Array(bytes), Number(checkpoint.size))?.[Number(index)]
    const { data } = (await json('/liabilities')).body
    expect(entry && toHex(entry)).toBe(`0x05${data[0].digest.slice(2)}`)
  })

  test('gives a file that the command checks offline', async () => {
    const path = join(folder, 'liabilities.json')
    const { body } = await json('/liabilities/proof', { key })
    writeFileSync(path, JSON.stringify(body))
    const verify = (...args: string[]) => {
      const { exitCode, stdout } = Bun.spawnSync([...program, 'verify', path, ...args])
      return { code: exitCode, text: stdout.toString() }
    }
    const signer = ['--signer', w.deps.signer.address]
    const whole = verify(...signer, '--account', testAccount)
    expect(whole.text).toEndWith(
      'Verified. The trusted key counted this balance in what the service owes.\n',
    )
    expect(whole.code).toBe(0)
    expect(verify(...signer).code).toBe(3)
    expect(verify(...signer, '--account', accountOf(1)).code).toBe(1)
    const old = verify(...signer, '--account', testAccount, '--max-age', '1h', '--json')
    expect(old.code).toBe(Date.now() > Date.UTC(2026, 10, 20, 13) ? 1 : 0)
  })
})

describe('the treasury in a statement', () => {
  const depositPolicy = { treasury: accountOf(7), token: accountOf(8), decimals: 6 } as never
  const log = { warn: () => {} } as never
  const read = (chain: unknown, policy: unknown = depositPolicy) =>
    readTreasury({ chain: chain as never, depositPolicy: policy as never, log })
  const none = `0x${'0'.repeat(40)}`

  test('is none without deposits, unread without a chain that answers', async () => {
    const nothing = { treasury: none, token: none, treasury_nusd: '0', block: '0' }
    expect(await read(undefined)).toEqual(nothing)
    expect(await read({}, null)).toEqual(nothing)
    const down = { block: () => Promise.reject(new ChainUnavailable('timeout')) }
    expect(await read(down)).toMatchObject({
      treasury: accountOf(7),
      treasury_nusd: '0',
      block: '0',
    })
    const broken = { block: () => Promise.reject(new Error('a bug')) }
    expect(await read(broken).catch(String)).toBe('Error: a bug')
  })

  test('is what the token says at a block, rounded down and within eight bytes', async () => {
    const holding = (amount: bigint) => ({
      block: async () => ({ number: 12 }),
      call: async (to: string, data: string, block: number) => {
        expect([to, data, block]).toEqual([
          accountOf(8),
          `0x70a08231${accountOf(7).slice(2).padStart(64, '0')}`,
          12,
        ])
        return `0x${amount.toString(16).padStart(64, '0')}`
      },
    })
    expect(await read(holding(1_500_000n))).toEqual({
      treasury: accountOf(7),
      token: accountOf(8),
      treasury_nusd: '1500000000',
      block: '12',
    })
    expect((await read(holding(2n ** 255n))).treasury_nusd).toBe(String(2n ** 64n - 1n))
    const fine = { treasury: accountOf(7), token: accountOf(8), decimals: 18 }
    const exact = await read(holding(1_999_999_999n), fine)
    expect(exact.treasury_nusd).toBe('1')
  })
})
