import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'
import { alice, bob, type Depositing, depositingWorld, exchange, units } from './depositing.ts'
import { type StubChain, stubChain, transferLog } from './stub-chain.ts'

setDefaultTimeout(60_000)

/** The third well-known test key: a wallet that signed in nowhere. */
const sender = privateKeyToAccount(
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
)
const shownAlice = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

for (const engine of engines) {
  describe(`a deposit from another wallet, on ${engine}`, () => {
    let chain: StubChain
    let w: Depositing
    let own: Browser
    beforeAll(async () => {
      chain = stubChain()
      w = await depositingWorld({ engine, url: chain.url })
      await w.look()
      own = browser(w)
      await signInWith(own)
    })
    afterAll(async () => {
      expect(await w.faults()).toEqual([])
      await w.stop()
      await chain.stop()
    })
    const arrive = async (dollars: number, blocks = 20) => {
      const tx = chain.add([transferLog(exchange, units(dollars))])
      chain.mine(blocks)
      await w.look()
      return tx.hash
    }
    const claim = async (txHash: string, text: string) => {
      const signature = await sender.signMessage({ message: text })
      const json = { tx_hash: txHash, signature }
      const headers = { accept: 'application/json' }
      const answer = await own.call('/api/portal/deposits/claim', { json, headers, method: 'POST' })
      return { status: answer.status, body: await answer.json() }
    }
    const textFor = (hash: string, account = shownAlice) =>
      `Counterfoil: credit the deposit ${hash} to ${account}`

    test('waits, credited to the address it came from', async () => {
      await arrive(5)
      expect(await w.balance(exchange)).toBe(5)
      expect(await w.balance(alice)).toBe(0)
    })

    promise`F9 H: A deposit is of the wallet that sent it, and can be claimed only with that
      wallet.`
    test('is claimed by who signed with that wallet, once', async () => {
      const hash = await arrive(7)
      const { status, body } = await claim(hash, textFor(hash))
      expect([status, body.data[0].account, body.data[0].status]).toEqual([
        200,
        shownAlice,
        'credited',
      ])
      expect([await w.balance(alice), await w.balance(exchange)]).toEqual([7, 5])
      expect((await claim(hash, textFor(hash))).status).toBe(409)
      expect(await w.balance(alice)).toBe(7)
    })

    test('is claimed before its credit too, and then credited to the claimer', async () => {
      const hash = await arrive(3, 0)
      expect((await claim(hash, textFor(hash))).status).toBe(200)
      chain.mine(20)
      await w.look()
      expect([await w.balance(alice), await w.balance(exchange)]).toEqual([10, 5])
    })

    test('ten claims at once move it once', async () => {
      const hash = await arrive(2)
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => claim(hash, textFor(hash))),
      )
      expect(answers.filter(({ status }) => status === 200).length).toBe(1)
      expect(await w.balance(alice)).toBe(12)
    })

    promise`F9`
    test('is not given for another text, another account or another transaction', async () => {
      const hash = await arrive(4)
      const lower = textFor(hash, alice)
      for (const text of [lower, textFor(hash, bob), textFor(`0x${'1'.repeat(64)}`), 'hello']) {
        const { status, body } = await claim(hash, text)
        expect([status, body.error.type]).toEqual([403, 'signature_invalid'])
      }
      expect((await claim(`0x${'1'.repeat(64)}`, textFor(hash))).status).toBe(404)
      expect(await w.balance(alice)).toBe(12)
    })

    test('a claimed one that a reorg takes back comes from the claimer', async () => {
      const tx = chain.add([transferLog(exchange, units(6))])
      chain.mine(20)
      await w.look()
      expect((await claim(tx.hash, textFor(tx.hash))).status).toBe(200)
      const before = await w.balance(alice)
      const others = await w.balance(exchange)
      chain.reorg(tx.block, [tx])
      chain.mine()
      await w.look()
      expect(await w.balance(alice)).toBe(before - 6)
      expect(await w.balance(exchange)).toBe(others)
    })

    test('GET /v1/deposits lists those of the account of the key, newest first', async () => {
      const { secret } = await w.key()
      const { data } = await (await w.call('/v1/deposits', { key: secret })).json()
      expect(data.map((one: { account: string }) => one.account)).toEqual(
        data.map(() => shownAlice),
      )
      expect(data.length).toBe(4)
      const { data: page } = await (
        await w.call(`/v1/deposits?limit=2&after=${data[0].id}`, { key: secret })
      ).json()
      expect(page.map(({ id }: { id: string }) => id)).toEqual([data[1].id, data[2].id])
      expect(Object.keys(data[0])).toContain('token_amount')
      const [foreign] = (await w.all()).filter(({ account }) => account === exchange)
      const after = await w.call(`/v1/deposits?after=${foreign?.id}`, { key: secret })
      expect(after.status).toBe(400)
      expect((await w.call('/v1/deposits')).status).toBe(401)
      const poor = await w.key({ scopes: ['runs:write'] })
      expect((await w.call('/v1/deposits', { key: poor.secret })).status).toBe(403)
    })
  })
}
