import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { scopes } from '../../../src/access/keys/key.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import { browser, signInWith } from '../../access/accounts/wallet.ts'
import { usd, type World } from '../../support/world.ts'

/** Someone with a wallet, a session and a funded key that may do everything. */
export async function arrive(w: World, balance = 10n * usd) {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const account = wallet.address.toLowerCase()
  const own = browser(w)
  const signedIn = await signInWith(own, wallet)
  if (signedIn.status !== 200) throw new Error('the sign-in failed')
  const post = async (path: string, json: unknown = {}, method = 'POST') => {
    const answer = await own.call(`/api/portal/passports${path}`, { json, method })
    return { status: answer.status, body: await answer.json() }
  }
  return {
    wallet,
    account,
    own,
    post,
    ...(await w.key({ account, balance, scopes: [...scopes] })),
    /** A passport that everybody sees. */
    publish: async (handle: string, more: object = {}) => {
      const wish = { handle, display_name: `The ${handle}`, kind: 'agent', ...more }
      const made = await post('', wish)
      const shown = await post(`/${handle}/publish`)
      if (made.status !== 201 || shown.status !== 200) throw new Error(`no passport ${handle}`)
    },
    /** A key of theirs that names a passport. */
    bound: async (handle: string) => {
      const made = await w.key({ account, scopes: [...scopes] })
      const bound = await post(`/${handle}/bind`, { key_id: made.key.id })
      if (bound.status !== 200) throw new Error(`no key of ${handle}`)
      return made
    },
  }
}

export type Person = Awaited<ReturnType<typeof arrive>>

/** Runs a chat and gives the id of its receipt. */
export async function ask(w: World, secret: string, content = 'hello there'): Promise<string> {
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content }] }
  const answer = await w.call('/v1/chat/completions', { key: secret, json })
  return (await answer.json()).receipt.id
}

/** Counts all that was run. */
export async function countAll(w: World): Promise<void> {
  await w.deps.sequencer.flush()
  // A lease that ran out because a test moved the clock is taken again by the second try.
  await w.deps.sequencer.flush()
  await receiptCounter(w.deps)()
}

/** A public passport as everybody sees it. */
export const shown = async (w: World, handle: string, query = '') => {
  const answer = await w.call(`/v1/passports/${handle}${query}`)
  return { status: answer.status, body: await answer.json() }
}
