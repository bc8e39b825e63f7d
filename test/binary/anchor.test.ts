import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Anvil, noAnvil, startAnvil } from '../contracts/anvil.ts'
import { senderAddress } from '../proof/anchors/anchored.ts'
import { type RpcProxy, rpcProxy } from '../proof/chain/proxy.ts'
import {
  expectRefusal,
  fund,
  type Home,
  makeHome,
  must,
  noBinary,
  type Server,
} from '../support/binary.ts'
import { fault, promise } from '../support/promise.ts'
import { until } from '../support/runs.ts'
import { testPrivateKey } from '../support/world.ts'
import { anchorsOf, configOf, run, untilAnchor, writeSenderKey } from './anchors.ts'

const readyMs = 60_000

describe.skipIf(noBinary || noAnvil)('anchors, on the binary', () => {
  let anvil: Anvil
  let proxy: RpcProxy
  let home: Home
  let server: Server
  let key = ''
  let registry = ''
  let first = ''
  /** Of the first log: where the first start listened. */
  let origin = ''
  const copy = () => join(home.folder, 'copy')

  beforeAll(async () => {
    anvil = await startAnvil('--block-time', '1')
    proxy = rpcProxy(anvil.url, '/v2/secret-of-the-operator')
    home = await makeHome(configOf(proxy.url))
    writeSenderKey(home)
    key = await fund(home, '10.00')
  }, readyMs)
  afterAll(async () => {
    await home?.remove()
    await proxy?.stop()
    await anvil?.stop()
  })

  test(
    'deploy makes a registry, prints its address alone, and makes no second one',
    async () => {
      const printed = await must(home, 'anchor', 'deploy')
      expect(printed).toMatch(/^0x[0-9a-fA-F]{40}\n$/)
      registry = printed.trim()
      const again = await home.cli('anchor', 'deploy')
      expect([again.code, again.stderr]).toEqual([1, `A registry already exists: ${registry}\n`])
      expect(proxy.asked.filter((method) => method === 'eth_sendRawTransaction').length).toBe(1)
    },
    readyMs,
  )

  test(
    'a receipt is signed, logged, anchored and final, and the registry says so too',
    async () => {
      server = await home.start()
      origin = server.origin
      first = await run(server, key)
      const proof = await untilAnchor(server, first, 'final')
      expect(proof.anchor).toMatchObject({ chain_id: 4663, registry, log_owner: senderAddress })
      const receipt = await server.get(`/v1/receipts/${first}`, key)
      const verdict = await (await server.call('/v1/receipts/verify', { json: receipt })).json()
      expect([verdict.valid, verdict.level]).toEqual([true, 'final'])
    },
    readyMs,
  )

  test(
    'now is picked up by the running server',
    async () => {
      const before = (await anchorsOf(home)).length
      await run(server, key)
      await must(home, 'anchor', 'now')
      await until('another anchor', async () => (await anchorsOf(home)).length > before, readyMs)
    },
    readyMs,
  )

  promise`G12 H: A head is anchored once, also when the process dies between sending and writing it
    down.`
  fault`8: killed between writing an anchor down, sending it and knowing of it → one transaction on
    the chain, which the next start finds`
  test(
    'killed between writing a transaction down and sending it, it is sent by the next start',
    async () => {
      const before = (await anchorsOf(home)).length
      proxy.fault = async (method) => {
        if (method !== 'eth_sendRawTransaction') return undefined
        proxy.fault = undefined
        await server.stop('SIGKILL')
        return new Response(null, { status: 502 })
      }
      const id = await run(server, key)
      await server.exited
      expect((await anchorsOf(home)).at(-1)?.status).toBe('submitted')
      server = await home.start()
      await untilAnchor(server, id, 'confirmed')
      expect((await anchorsOf(home)).length).toBe(before + 1)
    },
    readyMs,
  )

  promise`G12`
  fault`8`
  test(
    'killed after it was sent, the next start finds it or sends the same bytes: it is one',
    async () => {
      await untilIdle()
      const before = (await anchorsOf(home)).length
      const sent = await nonce()
      proxy.passed = (method) => {
        if (method !== 'eth_sendRawTransaction') return
        proxy.passed = undefined
        server.signal('SIGKILL')
      }
      const id = await run(server, key)
      await server.exited
      server = await home.start()
      await untilAnchor(server, id, 'confirmed')
      expect((await anchorsOf(home)).length).toBe(before + 1)
      expect(await nonce()).toBe(sent + 1)
    },
    readyMs,
  )

  test(
    'a chain that is away leaves a backlog, which is one anchor when it is back',
    async () => {
      await untilIdle()
      const before = (await anchorsOf(home)).length
      proxy.fault = () => new Response('down', { status: 502 })
      for (let i = 0; i < 5; i++) await run(server, key)
      const id = await run(server, key)
      await Bun.sleep(3000)
      expect((await anchorsOf(home)).length).toBe(before)
      expect((await server.get('/v1/status')).chain.status).toBe('malformed')
      proxy.fault = undefined
      await untilAnchor(server, id, 'confirmed')
      const rows = await anchorsOf(home)
      expect(rows.length).toBe(before + 1)
      expect((rows.at(-1)?.size ?? 0) - (rows.at(-1)?.prev_size ?? 0)).toBe(6)
    },
    readyMs,
  )

  fault`39`
  test(
    'an old copy of the database issues nothing, and a new log is the way out',
    async () => {
      await server.stop()
      cpSync(home.data, copy(), { recursive: true })
      server = await home.start()
      const lost = await run(server, key)
      const head = await untilAnchor(server, lost, 'confirmed')
      await server.stop()
      rmSync(home.data, { recursive: true })
      cpSync(copy(), home.data, { recursive: true })

      server = await home.start({ probe: '/livez' })
      const { status, anchors } = await server.get('/v1/status')
      expect([status, anchors.status]).toEqual(['degraded', 'diverged'])
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      const refused = server.call('/v1/runs', { key, json })
      await expectRefusal(await refused, 503, 'log_diverged')
      expect((await server.get(`/v1/receipts/${first}`, key)).receipt.id).toBe(first)
      expect((await home.cli('anchor', 'sync')).code).toBe(1)
      await server.stop()

      const said = await must(home, 'log', 'reopen', '--reason', 'an old copy', '--json')
      expect(JSON.parse(said)).toEqual({
        origin: `${origin}#2`,
        previous: origin,
        previous_size: Number(head.size),
        lost_receipts: null,
        proven_size: expect.any(Number),
        forgotten_size: Number(head.size),
      })
      server = await home.start()
      const next = await untilAnchor(server, await run(server, key), 'confirmed')
      expect(next.checkpoint.issuer).toBe(`${origin}#2`)
      const old = await server.get(`/v1/receipts/${first}`, key)
      const verdict = await (await server.call('/v1/receipts/verify', { json: old })).json()
      expect([verdict.valid, verdict.level]).toEqual([true, 'final'])
      expect(old.proof.checkpoint.issuer).toBe(origin)
      expect((await server.get('/v1/status')).status).toBe('ok')
      await server.stop()
    },
    2 * readyMs,
  )

  test(
    'a start with another registry, or with the key of the receipts, is refused',
    async () => {
      const other = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
      const refused = await home.cli('serve', '--anchors-registry', other)
      expect(refused.code).toBe(1)
      expect(refused.stderr).toContain(registry)
      writeSenderKey(home, readFileSync(join(home.data, 'signer.key'), 'utf8').trim())
      const same = await home.cli('serve')
      expect([same.code, same.stderr.includes('one that signs receipts')]).toEqual([1, true])
      chmodSync(join(home.folder, 'anchor.key'), 0o644)
      const open = await home.cli('serve')
      expect([open.code, open.stderr.includes('has mode 644')]).toEqual([1, true])
    },
    readyMs,
  )

  promise`H1`
  test('nothing that was printed holds a key or the path of the RPC server', () => {
    const printed =
      readFileSync(home.printed.stderr, 'utf8') + readFileSync(home.printed.stdout, 'utf8')
    for (const word of ['secret-of-the-operator', '59c6995e998f97a5', testPrivateKey]) {
      expect(printed).not.toContain(word)
    }
  })

  /** How many transactions of the sender are in blocks. */
  async function nonce(): Promise<number> {
    const params = [senderAddress, 'latest']
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getTransactionCount',
      params,
    })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(anvil.url, { method: 'POST', headers, body })
    return Number((await answer.json()).result)
  }

  /** Waits until everything that is logged is anchored. */
  async function untilIdle(): Promise<void> {
    await until(
      'the anchors',
      async () => {
        const { log } = await server.get('/v1/status')
        const rows = await anchorsOf(home)
        const isOpen = rows.some((row) => row.status === 'pending' || row.status === 'submitted')
        return log.size === log.anchored_size && !isOpen
      },
      readyMs,
    )
  }
})
