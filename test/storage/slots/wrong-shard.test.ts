import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { privateKeyToAccount } from 'viem/accounts'
import { rotateKey } from '../../../src/access/keys/rotate.ts'
import { makeSecret, secretPrefix } from '../../../src/access/keys/secret.ts'
import { issueToken } from '../../../src/access/operators/issue-token.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { StorageFault } from '../../../src/kernel/storage-fault.ts'
import { grantCredit } from '../../../src/ledger/grant.ts'
import { auditService } from '../../../src/proof/audit/audit.ts'
import {
  askNonce,
  browser,
  cookieHeader,
  signInWith,
  wallet,
} from '../../access/accounts/wallet.ts'
import { promise } from '../../support/promise.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, usd } from '../../support/world.ts'
import { keyOfS3, misrouted, ofS3, ofS4, type ShardWorld, shardWorld } from './shards.ts'

setDefaultTimeout(60_000)

type File = { receipt: { id: string; issuer: string } }
const toS4 = [421, 'misdirected_request', 's4']
const toS3 = [421, 'misdirected_request', 's3']
const chat = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'hello' }] }

const operatorOf = async ({ deps }: ShardWorld): Promise<string> =>
  (await issueToken(deps, { name: 'ops', scopes: ['health:read'], lifeMs: 60_000 })).secret

describe.each(engines)('a node that gets what belongs to another shard, on %s', (engine) => {
  let s3: ShardWorld
  let s4: ShardWorld
  let key3: { key: { id: string }; secret: string }
  let key4: { key: { id: string }; secret: string }
  let runId = ''
  let receiptId = ''
  const walletOfS3 = privateKeyToAccount(keyOfS3)

  beforeAll(async () => {
    s3 = await shardWorld('s3', { engine })
    s4 = await shardWorld('s4', { engine })
    key3 = await s3.key({ account: ofS3, balance: 10n * usd })
    key4 = await s4.key({ account: ofS4, balance: 10n * usd })
    const answer = await s4.call('/v1/chat/completions', { key: key4.secret, json: chat })
    receiptId = answer.headers.get('x-receipt-id') ?? ''
    runId = `run_${receiptId.slice(5)}`
    await s4.deps.sequencer.flush()
  })
  afterAll(async () => {
    await s3.stop()
    await s4.stop()
  })

  test('makes secrets that begin with the slot, and ids that begin with the shard', async () => {
    expect(key3.secret).toStartWith('sk-service-ft')
    expect(key4.secret).toStartWith('sk-service-vz')
    expect([key3.key.id, key4.key.id, runId].map((id) => id.replace(/_(..).*/, '_$1'))).toEqual([
      ...['key_s3', 'key_s4', 'run_s4'],
    ])
    const wish = { keyId: key4.key.id, actor: 'test', overlapSeconds: 60 }
    expect((await rotateKey(s4.deps, wish)).secret).toStartWith('sk-service-vz')
  })

  promise`Q2 H: A node that gets another shard's key, session, id or receipt answers 421 with that
    shard, never a wrong answer.`
  test('answers its own keys, and 421 with the shard to those of another', async () => {
    expect((await s3.call('/v1/keys/self', { key: key3.secret })).status).toBe(200)
    for (const path of ['/v1/keys/self', '/v1/runs', `/v1/runs/${runId}`]) {
      expect(await misrouted(await s3.call(path, { key: key4.secret }))).toEqual(toS4)
    }
    const run = await s3.call('/v1/chat/completions', { key: key4.secret, json: chat })
    expect(await misrouted(run)).toEqual(toS4)
    expect(await misrouted(await s4.call('/v1/keys/self', { key: key3.secret }))).toEqual(toS3)
  })

  test('answers 421 also while its own database cannot be read', async () => {
    const [own, other] = await Promise.all([s3, s4].map(operatorOf))
    const ofOther = browser(s4)
    await signInWith(ofOther, wallet)
    const session = { ...cookieHeader(ofOther.jar), accept: 'application/json' }
    const fault = new StorageFault('storage_unreachable', '08006')
    const { keys, operatorTokens, sessions, receipts } = s3.deps
    const failing = [
      spyOn(keys, 'findCaller').mockImplementation(() => Promise.reject(fault)),
      spyOn(operatorTokens, 'findByHash').mockRejectedValue(fault),
      spyOn(sessions, 'find').mockRejectedValue(fault),
      spyOn(receipts, 'find').mockRejectedValue(fault),
    ]
    try {
      const asked = [
        s3.call('/v1/chat/completions', { key: key4.secret, json: chat }),
        s3.call('/operator/v1/health', { key: other }),
        s3.call('/api/portal/keys', { headers: session }),
        s3.call(`/v1/receipts/${receiptId}`),
      ]
      for (const answer of await Promise.all(asked)) {
        expect(await misrouted(answer)).toEqual(toS4)
      }
      const ownKey = makeSecret(systemRandom(), secretPrefix, 'ft')
      for (const [path, key] of [
        ['/v1/keys/self', ownKey],
        ['/operator/v1/health', own],
        [`/v1/receipts/${receiptId.replace('_s4', '_s3')}`, undefined],
      ] as const) {
        const answer = await s3.call(path, key === undefined ? {} : { key })
        expect([path, answer.status, answer.headers.get('x-counterfoil-shard')]).toEqual([
          path,
          503,
          null,
        ])
      }
    } finally {
      for (const one of failing) one.mockRestore()
    }
  })

  test('says invalid_key of a key of its own slots that does not exist, and of no key', async () => {
    const wrong = `${key4.secret.slice(0, -1)}${key4.secret.endsWith('0') ? '1' : '0'}`
    const unknown = makeSecret(systemRandom(), secretPrefix, 'ft')
    for (const key of [wrong, unknown, undefined]) {
      const answer = await s3.call('/v1/keys/self', key === undefined ? {} : { key })
      expect([answer.status, answer.headers.get('x-counterfoil-shard')]).toEqual([401, null])
    }
  })

  promise`Q2`
  test('answers 421 to the ids of another shard, and 404 to unknown ones of its own', async () => {
    const key = key3.secret
    const paths = [
      `/v1/runs/${runId}`,
      `/v1/receipts/${receiptId}`,
      `/v1/receipts/${receiptId}/proof`,
      `/v1/keys/${key4.key.id}`,
      `/v1/runs?after=${runId}`,
    ]
    for (const path of paths) expect(await misrouted(await s3.call(path, { key }))).toEqual(toS4)
    const own = receiptId.replace('_s4', '_s3')
    expect((await s3.call(`/v1/receipts/${own}`)).status).toBe(404)
    expect((await s3.call(`/v1/runs/run_${own.slice(5)}`, { key })).status).toBe(404)
    const cancel = await s3.call(`/v1/runs/${runId}/cancel`, { key, method: 'POST' })
    expect(await misrouted(cancel)).toEqual(toS4)
    const page = await fetch(`${s3.origin}/receipts/${receiptId}`, {
      headers: { accept: 'text/html' },
    })
    expect([page.status, page.headers.get('x-counterfoil-shard')]).toEqual([421, 's4'])
    expect(await page.text()).toContain('shard s4')
  })

  promise`Q2`
  test('gives receipts the origin of its log, and sends those of another on', async () => {
    const owned = await s4.call(`/v1/receipts/${receiptId}`, { key: key4.secret })
    const file = (await owned.json()) as File
    expect(file.receipt.issuer).toBe('https://gw.example#s4')
    const right = await s4.call('/v1/receipts/verify', { json: file })
    expect(await right.json()).toMatchObject({ valid: true, level: 'logged' })
    expect(await misrouted(await s3.call('/v1/receipts/verify', { json: file }))).toEqual(toS4)
    const named = await s3.call('/v1/receipts/verify', { json: { id: receiptId } })
    expect(await misrouted(named)).toEqual(toS4)
  })

  test('serves an audit of its log, under its own name', async () => {
    const get = async (path: string) => (await s4.call(path)).json()
    const open = (prefix: string) => async (path: string) => {
      const answer = await s4.call(`${prefix}/${path}`)
      const bytes = new Uint8Array(await answer.arrayBuffer())
      return answer.ok ? bytes : undefined
    }
    const { log } = await get('/v1/signer')
    expect([
      log.prefix,
      await open('/log')('checkpoint'),
      await open('/log/s3')('checkpoint'),
    ]).toEqual(['/log/s4', undefined, undefined])
    const report = await auditService({ service: { get }, files: { open, keys: [], papers: [] } })
    expect(report.holds).toBe(true)
    expect(report.checks.filter(({ status }) => status === 'fail')).toEqual([])
    expect([report.holds, report.origin]).toEqual([true, 'https://gw.example#s4'])
  })

  promise`Q2`
  test('signs in wallets of its slots alone, and knows the sessions of others', async () => {
    const own = browser(s4)
    expect((await signInWith(own, wallet)).status).toBe(200)
    expect(own.jar.get('sid')).toStartWith('vz')
    const headers = { ...cookieHeader(own.jar), accept: 'application/json' }
    const session = await s3.call('/api/portal/keys', { headers })
    expect(await misrouted(session)).toEqual(toS4)
    const asked = await s3.call('/api/auth/nonce', { json: { address: wallet.address } })
    expect(await misrouted(asked)).toEqual(toS4)
    // A text for a wallet of its own, with another one's address in it.
    const there = browser(s3)
    const { message } = await askNonce(there, walletOfS3.address)
    const forged = message.replace(walletOfS3.address, wallet.address)
    const signature = await wallet.signMessage({ message: forged })
    const tried = await there.call('/api/auth/verify', { json: { message: forged, signature } })
    expect(await misrouted(tried)).toEqual(toS4)
    expect((await signInWith(browser(s3), walletOfS3)).status).toBe(200)
  })

  promise`Q1`
  test('opens no account of another slot, not for its operator either', async () => {
    const wish = { account: ofS4, amount: usd, reason: 'test', actor: 'test' }
    expect(await outcomeOf(grantCredit(s3.deps, wish))).toThrow(/belongs to the shard s4/)
    expect(await s3.deps.accounts.find(ofS4)).toBeUndefined()
  })

  test('lets the public terminal run on each shard', async () => {
    for (const shard of [s3, s4]) {
      const answer = await shard.call('/v1/terminal/run', { json: { input: 'hi' } })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-counterfoil-shard')).toBeNull()
    }
  })

  test('names its shard in the lists and the passports that it shows', async () => {
    const person = browser(s4)
    await signInWith(person, wallet)
    const json = { handle: 'shard-bot', display_name: 'A bot', kind: 'agent' }
    await person.call('/api/portal/passports', { json })
    await person.call('/api/portal/passports/shard-bot/publish', { json: {} })
    const read = async (path: string) => (await s4.call(path)).json()
    const list = await read('/v1/passports')
    expect([list.shard, list.data[0].handle]).toEqual(['s4', 'shard-bot'])
    expect(await read('/v1/passports/shard-bot')).toMatchObject({
      handle: 'shard-bot',
      shard: 's4',
    })
    expect((await read('/v1/explorer/recent')).shard).toBe('s4')
    expect((await read('/v1/anchors')).log.origin).toEndWith('#s4')
  })

  test('takes the tokens of its own operators alone', async () => {
    const wish = { name: 'ops', scopes: ['health:read' as const], lifeMs: 60_000 }
    const { secret } = await issueToken(s4.deps, wish)
    expect(secret).toStartWith('op-service-s4')
    expect((await s4.call('/operator/v1/health', { key: secret })).status).toBe(200)
    expect(await misrouted(await s3.call('/operator/v1/health', { key: secret }))).toEqual(toS4)
  })
})
