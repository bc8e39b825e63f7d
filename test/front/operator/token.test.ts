import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueToken, revokeToken, rotateToken } from '../../../src/access/operators/issue-token.ts'
import { operatorScopes, tokenHash } from '../../../src/access/operators/token.ts'
import { operations } from '../../../src/front/reference/areas.ts'
import { isKeyed, isOperated, methodOf, pathOf } from '../../../src/web/reference/operation.ts'
import { errorType } from '../../docs/answers.ts'
import { program } from '../../support/program.ts'
import { promise } from '../../support/promise.ts'
import { engines, testAccount, usd, type World, world } from '../../support/world.ts'
import { noted } from '../admin/admin.ts'

const dayMs = 86_400_000
const all = { name: 'test', scopes: operatorScopes, lifeMs: dayMs }
const operated = operations.filter(isOperated)
const keyed = operations.filter((one) => isKeyed(one) && pathOf(one).startsWith('/v1/'))
const named = (of: typeof operations) => of.map((one) => [one.route, one] as const)
const urlOf = (one: (typeof operations)[number]) => pathOf(one).replace(/:\w+/g, 'none')

describe.each(engines)('tokens of the operator API on %s', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine })
  }, 60_000)
  afterAll(() => w.stop())

  const health = (key: string) => w.call('/operator/v1/health', { key })

  promise`E22 C: An operator token does what its scopes name, until it ends, and each use is noted.`
  test('A token works until it expires, is rotated or is revoked.', async () => {
    const { token, secret } = await issueToken(w.deps, all)
    expect(secret).toStartWith('op-service-')
    const told = await health(secret)
    expect(told.status).toBe(200)
    const { upstreams } = await told.json()
    expect(upstreams).toContainEqual(
      expect.objectContaining({ id: 'builtin', asked: 0, share_bps: 0, first_tokens: [] }),
    )
    const turned = await rotateToken(w.deps, token.id, 3_600_000)
    expect((await health(secret)).status).toBe(200)
    expect((await health(turned.secret)).status).toBe(200)
    const again = await rotateToken(w.deps, token.id, 0)
    const statuses = await Promise.all(
      [secret, turned.secret, again.secret].map(async (one) => (await health(one)).status),
    )
    expect(statuses).toEqual([401, 401, 200])
    await revokeToken(w.deps, token.id)
    const refused = await health(again.secret)
    expect([refused.status, await errorType(refused)]).toEqual([403, 'key_revoked'])
    const short = await issueToken(w.deps, { ...all, lifeMs: -1 })
    const late = await health(short.secret)
    expect([late.status, await errorType(late)]).toEqual([403, 'key_expired'])
  })

  promise`E22`
  test('Its secret is stored as a hash alone, and in no audit entry.', async () => {
    const { token, secret } = await issueToken(w.deps, all)
    await health(secret)
    const stored = JSON.stringify([await w.deps.operatorTokens.find(token.id), await noted(w)])
    expect(stored).toContain(tokenHash(secret) ?? 'none')
    expect(stored).not.toContain(secret)
    expect(stored).not.toContain(secret.slice(-20))
  })

  promise`E22`
  test('The audit notes each token on each route, once a minute in a loop.', async () => {
    const { token, secret } = await issueToken(w.deps, all)
    const uses = async () =>
      (await noted(w))
        .filter(({ actor }) => actor === token.id)
        .map(({ action, subject, detail }) => [action, subject, detail['unnoted']])
    for (let i = 0; i < 5; i++) await health(secret)
    await w.call('/operator/v1/models', { key: secret })
    expect(await uses()).toEqual([
      ['operator_token.use', 'GET /operator/v1/models', 0],
      ['operator_token.use', 'GET /operator/v1/health', 0],
    ])
    w.advance(61_000)
    await health(secret)
    expect((await uses())[0]).toEqual(['operator_token.use', 'GET /operator/v1/health', 4])
  })
})

describe('which credential opens which door', () => {
  let w: World
  let secret: string
  let token: string
  beforeAll(async () => {
    w = await world({ toml: '[limits]\nfailed_auth_per_minute = 1_000_000' })
    secret = (await w.key({ balance: usd })).secret
    token = (await issueToken(w.deps, all)).secret
  })
  afterAll(() => w.stop())

  test.each(named(operated))('An account key does not open %s.', async (_, one) => {
    const answer = await w.call(urlOf(one), { method: methodOf(one), key: secret })
    expect([answer.status, await errorType(answer)]).toEqual([401, 'invalid_key'])
  })

  test.each(named(keyed))('A token of the operator does not open %s.', async (_, one) => {
    const answer = await w.call(urlOf(one), { method: methodOf(one), key: token })
    expect([answer.status, await errorType(answer)]).toEqual([401, 'invalid_key'])
  })

  test.each(named(operated))('A token with every other scope does not open %s.', async (_, one) => {
    const own = one.access.replace('operator ', '')
    const scopes = operatorScopes.filter((scope) => scope !== own)
    expect(scopes).toHaveLength(operatorScopes.length - 1)
    const made = await issueToken(w.deps, { ...all, scopes })
    const answer = await w.call(urlOf(one), { method: methodOf(one), key: made.secret })
    expect([answer.status, await errorType(answer)]).toEqual([403, 'scope_denied'])
  })

  test('Errors of the operator API are JSON, whatever the client accepts.', async () => {
    for (const path of ['/operator/v1/health', '/operator/v1/none', '/operator/v1']) {
      const answer = await w.call(path, { headers: { accept: 'text/html' } })
      const media = answer.headers.get('content-type')?.split(';')[0]
      expect([path, media]).toEqual([path, 'application/json'])
      expect((await answer.json()).error.request_id).toStartWith('req_')
    }
  })

  promise`E22`
  test('No route of it shows a secret, a prompt or an answer.', async () => {
    const { auditEntries, keySecrets } = w.db.tables
    expect([auditEntries, keySecrets]).toHaveLength(2)
    await w.call('/api/portal/settings')
    const prompt = 'a-rare-prompt-to-be-kept'
    const { key, secret: own } = await w.key({ balance: usd })
    const json = { model: 'counterfoil/echo-1', input: prompt, max_output_tokens: 50 }
    const run = await w.call('/v1/runs', { key: own, json })
    expect(await run.text()).toContain(prompt)
    const looks = operated.filter((one) => methodOf(one) === 'GET')
    expect(looks.length).toBeGreaterThan(8)
    for (const one of looks) {
      const path = pathOf(one).replace(':address', testAccount).replace(':id', key.id)
      const answer = await w.call(`${path}?account=${testAccount}`, { key: token })
      const text = await answer.text()
      expect([one.route, answer.status]).toEqual([one.route, 200])
      for (const hidden of [prompt, own, own.slice(-16), token, tokenHash(token) ?? '']) {
        expect([one.route, text.includes(hidden)]).toEqual([one.route, false])
      }
    }
  })
})

test('The command line makes, lists, rotates and revokes tokens.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-tokens-'))
  const run = (...args: string[]) => {
    const cmd = [...program, 'admin', 'token', ...args, '--json']
    const env = { PATH: process.env['PATH'] ?? '', COUNTERFOIL_DATA: folder }
    const { stdout, exitCode } = Bun.spawnSync({ cmd, cwd: folder, env, stderr: 'ignore' })
    const text = stdout.toString()
    return { exitCode, told: text === '' ? undefined : JSON.parse(text) }
  }
  try {
    Bun.spawnSync([...program, 'migrate', '--data', folder], { cwd: folder })
    const { told } = run('create', '--scopes', 'accounts:read,grants:write', '--expires', '90d')
    expect(told).toMatchObject({ status: 'usable', scopes: ['accounts:read', 'grants:write'] })
    expect(told.secret).toStartWith('op-service-')
    const lifeMs = Date.parse(told.expires_at) - Date.parse(told.created_at)
    expect(lifeMs).toBe(90 * dayMs)
    const rotated = run('rotate', told.id).told
    expect([rotated.id, rotated.secret === told.secret]).toEqual([told.id, false])
    expect(run('revoke', told.id).told).toMatchObject({ id: told.id, status: 'revoked' })
    const { data } = run('list').told
    expect(data).toHaveLength(1)
    expect(JSON.stringify(data)).not.toContain('op-service-')
    expect(run('create', '--scopes', 'everything').exitCode).toBe(2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
