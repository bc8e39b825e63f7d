import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  hashMessage,
  parseAbi,
  serializeErc6492Signature,
} from 'viem'
import { promise } from '../../support/promise.ts'
import { type World, world } from '../../support/world.ts'
import { askNonce, browser, wallet } from './wallet.ts'

/** Contracts beside the test account's own. */
const contract = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const yes = `0x1626ba7e${'0'.repeat(56)}`
const isValidSignature = 'function isValidSignature(bytes32 hash, bytes signature)'
const reverts = { error: { code: 3, message: 'execution reverted', data: '0x' } }

type Reply = { result: unknown } | { error: unknown } | Response

/** An RPC server that says what it is told to, and counts who asks. */
function stubRpc() {
  const says = { chain: '0x1237', code: '0x6001', call: { result: yes } as Reply }
  const asked: { method: string; params: unknown[] }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { id, method, params } = (await request.json()) as {
        id: number
        method: string
        params: unknown[]
      }
      asked.push({ method, params })
      if (method === 'eth_call' && says.call instanceof Response) return says.call.clone()
      const replies: Record<string, Reply> = {
        eth_chainId: { result: says.chain },
        eth_getCode: { result: says.code },
        eth_call: says.call,
      }
      return Response.json({ jsonrpc: '2.0', id, ...replies[method] })
    },
  })
  return { says, asked, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
}

type Rpc = ReturnType<typeof stubRpc>

const toml = (rpc: Rpc, contractWallets: boolean) =>
  `[chain]\nrpc_urls = ["${rpc.url}"]\n[sign_in]\ncontract_wallets = ${contractWallets}\n`

/** A signature of a contract that is not there yet, with how to make it. */
const undeployed = (signature: `0x${string}`) =>
  serializeErc6492Signature({ address: contract, data: '0x1234', signature })

let lastAttempt: { message: string; signature: `0x${string}` } = { message: '', signature: '0x' }

/** The message of the last refusal; empty for a sign-in. */
let lastWords = ''

async function attempt(
  service: World,
  address: string,
  sign: (message: string) => Promise<`0x${string}`> | `0x${string}`,
) {
  const own = browser(service)
  const { message } = await askNonce(own, address)
  const signature = await sign(message)
  lastAttempt = { message, signature }
  const answer = await own.call('/api/auth/verify', { json: { message, signature } })
  const { error } = (await answer.json()) as { error?: { type: string; message: string } }
  lastWords = error?.message ?? ''
  return [answer.status, error?.type]
}

const signed = (message: string) => wallet.signMessage({ message })
const oneSignature = `0x${'11'.repeat(65)}` as const

describe('contract wallets off', () => {
  let rpc: Rpc
  let service: World
  beforeAll(async () => {
    rpc = stubRpc()
    service = await world({ toml: toml(rpc, false) })
  })
  afterAll(async () => {
    await service.stop()
    rpc.stop()
  })

  promise`B11 C: With contract wallets off, no sign-in asks the chain.`
  test('no sign-in asks the chain: not a good one, a bad one or a wrapped one', async () => {
    expect(await attempt(service, wallet.address, signed)).toEqual([200, undefined])
    expect(await attempt(service, contract, signed)).toEqual([403, 'signature_invalid'])
    const wrapped = undeployed(oneSignature)
    expect(await attempt(service, contract, () => wrapped)).toEqual([400, 'invalid_request'])
    expect(rpc.asked).toEqual([])
  })

  test('a long signature is told from a malformed one, with what the operator has to set', async () => {
    await attempt(service, contract, () => `0x${'c0'.repeat(700)}`)
    expect(lastWords).toContain('the signature of a contract wallet')
    expect(lastWords).toContain('[chain] rpc_urls')
    for (const malformed of ['0x', '0x123', `0x${'c0'.repeat(4001)}`] as const) {
      await attempt(service, contract, () => malformed)
      expect(lastWords).toContain('Send the signature as 0x and 130 hex digits')
    }
  })
})

describe('without the setting', () => {
  test('contract wallets are taken as soon as a chain is configured, and not before', async () => {
    const rpc = stubRpc()
    const on = await world({ toml: `[chain]\nrpc_urls = ["${rpc.url}"]\n` })
    expect(await attempt(on, contract, () => undeployed(oneSignature))).toEqual([
      403,
      'signature_invalid',
    ])
    expect(lastWords).toContain('no contract wallet there on chain 4663')
    expect(await attempt(on, contract, () => oneSignature)).toEqual([200, undefined])
    await on.stop()
    rpc.stop()
    const off = await world({})
    expect(await attempt(off, contract, () => oneSignature)).toEqual([403, 'signature_invalid'])
    expect(lastWords).toContain('[chain] rpc_urls')
    await off.stop()
  })
})

describe('contract wallets on', () => {
  let rpc: Rpc
  let service: World
  beforeAll(async () => {
    rpc = stubRpc()
    service = await world({ toml: toml(rpc, true) })
  })
  afterEach(() => {
    Object.assign(rpc.says, { chain: '0x1237', code: '0x6001', call: { result: yes } })
    rpc.asked.length = 0
  })
  afterAll(async () => {
    await service.stop()
    rpc.stop()
  })

  test('A signature by the key itself is verified without a call', async () => {
    expect(await attempt(service, wallet.address, signed)).toEqual([200, undefined])
    expect(rpc.asked).toEqual([])
  })

  test('a contract that says yes is signed in (ERC-1271)', async () => {
    expect(await attempt(service, contract, signed)).toEqual([200, undefined])
    const call = rpc.asked.find(({ method }) => method === 'eth_call')
    const { message, signature } = lastAttempt
    const data = encodeFunctionData({
      abi: parseAbi([isValidSignature]),
      args: [hashMessage(message), signature],
    })
    expect(call?.params[0]).toMatchObject({ to: contract, data })
    expect(rpc.asked.map(({ method }) => method).sort()).toEqual([
      'eth_call',
      'eth_chainId',
      'eth_getCode',
    ])
  })

  test('its signature may have another length', async () => {
    expect(await attempt(service, contract, () => '0x01')).toEqual([200, undefined])
  })

  const nos: [what: string, call: Reply][] = [
    ['answers nothing', { result: '0x' }],
    ['answers the four bytes alone', { result: '0x1626ba7e' }],
    ['answers them at the other end', { result: `0x${'0'.repeat(56)}1626ba7e` }],
    ['answers them and something more', { result: `${yes.slice(0, -1)}1` }],
    ['answers true', { result: `0x${'0'.repeat(63)}1` }],
    ['answers ones only', { result: `0x${'f'.repeat(64)}` }],
    ['answers the failure of the standard', { result: `0x${'f'.repeat(8)}${'0'.repeat(56)}` }],
    ['refuses', reverts],
  ]
  promise`B12`
  test.each(nos)('403 signature_invalid: a contract that %s', async (_, call) => {
    rpc.says.call = call
    expect(await attempt(service, contract, signed)).toEqual([403, 'signature_invalid'])
  })

  test('403 signature_invalid: an address without a contract, even if a call says yes', async () => {
    rpc.says.code = '0x'
    expect(await attempt(service, contract, signed)).toEqual([403, 'signature_invalid'])
    expect(rpc.asked.some(({ method }) => method === 'eth_call')).toBe(false)
  })

  test('A wrapped signature is checked by the standard’s validator alone (ERC-6492)', async () => {
    const wrapped = undeployed(oneSignature)
    const verdicts: [unknown, number][] = [
      ['0x01', 200],
      ['0x00', 403],
      ['0x', 403],
      [`0x${'0'.repeat(63)}1`, 403],
      [yes, 403],
    ]
    for (const [result, status] of verdicts) {
      rpc.asked.length = 0
      rpc.says.call = { result }
      expect((await attempt(service, contract, () => wrapped))[0]).toBe(status)
      const calls = rpc.asked.filter(({ method }) => method !== 'eth_chainId')
      expect(calls.map(({ method }) => method)).toEqual(['eth_call'])
      expect(calls[0]?.params[0]).not.toHaveProperty('to')
      const deployed = {
        abi: erc6492SignatureValidatorAbi,
        bytecode: erc6492SignatureValidatorByteCode,
        args: [contract, hashMessage(lastAttempt.message), wrapped],
      } as const
      expect(calls[0]?.params[0]).toMatchObject({ data: encodeDeployData(deployed) })
    }
  })

  const away: [what: string, call: Reply][] = [
    ['answers 500', new Response('no', { status: 500 })],
    ['is busy', new Response('slow down', { status: 429 })],
    ['answers a page', new Response('<html>')],
    ['answers no hex', { result: true }],
    ['answers null', { result: null }],
    ['answers with an error', { error: { code: -32000, message: 'x' } }],
  ]
  promise`B12 C: With contract wallets on, only an exact yes of our own chain is a yes.`
  test.each(away)('503 chain_unavailable, never a pass: an RPC server that %s', async (_, call) => {
    const own = stubRpc()
    own.says.call = call
    const other = await world({ toml: toml(own, true) })
    expect(await attempt(other, contract, signed)).toEqual([503, 'chain_unavailable'])
    await other.stop()
    own.stop()
  })

  promise`B12`
  test('503 chain_unavailable: an RPC server of another chain, and one that is gone', async () => {
    const own = stubRpc()
    own.says.chain = '0x1'
    const other = await world({ toml: toml(own, true) })
    expect(await attempt(other, contract, signed)).toEqual([503, 'chain_unavailable'])
    expect(own.asked.some(({ method }) => method === 'eth_call')).toBe(false)
    own.stop()
    expect(await attempt(other, contract, signed)).toEqual([503, 'chain_unavailable'])
    await other.stop()
  })
})
