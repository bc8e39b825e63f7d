import { desc } from 'drizzle-orm'
import { privateKeyToAccount } from 'viem/accounts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { type Browser, browser, signInWith } from '../../access/accounts/wallet.ts'
import { type Engine, testAccount, type World, world } from '../../support/world.ts'

/** The second well-known test account, which is not an one special. */
export const otherWallet = privateKeyToAccount(
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
)
export const other = otherWallet.address.toLowerCase()

export const json = { accept: 'application/json' }
export const html = { accept: 'text/html' }
export const htmx = { 'hx-request': 'true' }

/** A service whose operator is the first test account, and browsers of it and of someone else. */
export async function adminWorld({
  engine = 'sqlite',
  toml = '',
}: {
  engine?: Engine
  toml?: string
} = {}) {
  const w = await world({ engine, toml: `admins = ["${testAccount}"]\n${toml}` })
  const own = browser(w)
  await signInWith(own)
  const theirs = browser(w)
  await signInWith(theirs, otherWallet)
  return { w, own, theirs }
}

/** Sends a form, as a browser or as htmx does. */
export const post = (
  from: Browser,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = json,
) =>
  from.call(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

/** What was noted, newest first. */
export const noted = (w: World) => {
  const { auditEntries } = w.db.tables
  return w.db.read((q) => rows(q.select().from(auditEntries).orderBy(desc(auditEntries.id))))
}
