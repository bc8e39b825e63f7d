import { scopes } from '../../src/access/keys/key.ts'
import { issueToken } from '../../src/access/operators/issue-token.ts'
import { operatorScopes } from '../../src/access/operators/token.ts'
import { sampleCode } from '../../src/billing/vouchers/api/voucher-body.ts'
import { issueVouchers } from '../../src/billing/vouchers/issue-vouchers.ts'
import { operatedWallet } from '../../src/front/operator/shapes.ts'
import { systemRandom } from '../../src/kernel/random.ts'
import { createPassport } from '../../src/proof/passports/create.ts'
import { publishPassport } from '../../src/proof/passports/publish.ts'
import { sampleIds } from '../../src/web/http/shape.ts'
import { type Example, isOperated, type Operation } from '../../src/web/reference/operation.ts'
import { usd, type World } from '../support/world.ts'

/** What the examples of the reference act on: their sample ids, and what stands for them here. */
export type Fixtures = {
  secret: string
  /** A token of the operator API that may do all. */
  operator: string
  ids: Readonly<Record<string, string>>
}

/** What an operation is asked with, unless it takes no bearer at all. */
export const bearerOf = (operation: Operation, { secret, operator }: Fixtures): string =>
  isOperated(operation) ? operator : secret

/** A key that may do all, a key below it, a run of it whose receipt is shared, and a passport. */
export async function makeFixtures(
  w: World,
  // One of its own: the plan bounds how many keys an account has.
  account = `0x${Buffer.from(systemRandom().bytes(20)).toString('hex')}`,
): Promise<Fixtures> {
  const { secret } = await w.key({ account, balance: usd, scopes: [...scopes] })
  const wish = { name: 'below', cap: { limit_nusd: 500_000_000 } }
  const below = await sent(w.call('/v1/keys', { key: secret, json: wish }))
  const body = { model: 'counterfoil/echo-1', input: 'for the reference', max_output_tokens: 10 }
  const run = await sent(w.call('/v1/runs', { key: secret, json: body }))
  const receipt = String(run['receipt_id'])
  const shared = { visibility: 'unlisted' }
  await sent(w.call(`/v1/receipts/${receipt}/share`, { key: secret, json: shared }))
  const handle = `scout-${account.slice(2, 14)}`
  const profile = { handle, displayName: 'Scout', kind: 'agent' } as const
  const passport = await createPassport(w.deps, { account, ...profile })
  await publishPassport(w.deps, { passport, actor: account })
  const life = { lifeMs: 86_400_000, perAccount: null, actor: 'test' }
  const { codes } = await issueVouchers(w.deps, { amount: usd, count: 1, ...life })
  const hook = { url: 'https://example.com/hooks/counterfoil' }
  const made = await sent(w.call('/v1/webhooks', { key: secret, json: hook }))
  const other = await sent(w.call('/v1/webhooks', { key: secret, json: hook }))
  const test = `/v1/webhooks/${made['id']}/test`
  const delivery = await sent(w.call(test, { key: secret, method: 'POST' }))
  const { model } = body
  const most = { max_input_tokens: 100, max_output_tokens: 10, valid_s: 600 }
  const quote = await sent(w.call('/v1/quotes', { key: secret, json: { model, ...most } }))
  const ids = {
    [sampleIds.quote]: String(quote['id']),
    scout: handle,
    [sampleIds.whk]: String(made['id']),
    [sampleIds.dlv]: String(delivery['id']),
    whk_01k1j8dq00w9y7x5v3t1r8q6p4: String(other['id']),
    [sampleIds.key]: String(below['id']),
    [sampleIds.run]: String(run['id']),
    [sampleIds.rcpt]: receipt,
    [operatedWallet]: account,
    [sampleCode]: codes[0] ?? 'none',
  }
  const token = { name: 'reference', scopes: operatorScopes, lifeMs: 86_400_000 }
  const { secret: operator } = await issueToken(w.deps, token)
  return { secret, operator, ids }
}

async function sent(answer: Promise<Response>): Promise<Record<string, unknown>> {
  const { ok, status } = await answer
  const body = (await (await answer).json()) as Record<string, unknown>
  if (!ok) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body
}

/** Where an example goes, with the ids of this world. */
export function urlOf(path: string, example: Example, { ids }: Fixtures): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(real(example.path?.[name] ?? '', ids)),
  )
  const query = new URLSearchParams(example.query).toString()
  return query === '' ? filled : `${filled}?${query}`
}

/** The body of an example, with the ids of this world. */
export const bodyOf = ({ body }: Example, { ids }: Fixtures): string | undefined =>
  body === undefined ? undefined : real(JSON.stringify(body), ids)

const real = (text: string, ids: Fixtures['ids']): string =>
  Object.entries(ids)
    // Texts stand in JSON with their line breaks escaped; a longer one may hold a shorter one.
    .map(([sample, id]) => [escaped(sample), escaped(id)] as const)
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((done, [sample, id]) => done.replaceAll(sample, id), text)

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
