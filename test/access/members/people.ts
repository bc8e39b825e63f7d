import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Role } from '../../../src/kernel/acting.ts'
import { usd, type World } from '../../support/world.ts'
import { type Browser, browser, signInWith } from '../accounts/wallet.ts'

/** A person signed in with a fresh wallet. */
export type Person = { own: Browser; wallet: string; signer: ReturnType<typeof freshSigner> }

export const freshSigner = () => privateKeyToAccount(generatePrivateKey())

export async function person(w: World): Promise<Person> {
  const signer = freshSigner()
  const own = browser(w)
  await signInWith(own, signer)
  return { own, wallet: signer.address.toLowerCase(), signer }
}

const limits = { cap: { limit_nusd: Number(5n * usd), window: 'month' } }

/** The token of a new invitation. */
export async function invited(owner: Person, role: Role, more = {}): Promise<string> {
  const json = { role, ...(role === 'developer' ? limits : {}), ...more }
  const answer = await owner.own.call('/api/portal/members/invite', { json })
  const { link } = (await answer.json()) as { link: string }
  return new URL(link).searchParams.get('token') ?? ''
}

export const accepted = ({ own }: Person, token: string): Promise<Response> =>
  own.call('/api/portal/members/accept', { json: { token } })

export const actFor = ({ own }: Person, account: string): Promise<Response> =>
  own.call('/api/auth/account', { json: { account } })

/** A person who acts for the account of an owner. */
export async function member(w: World, owner: Person, role: Role): Promise<Person> {
  const one = await person(w)
  await accepted(one, await invited(owner, role))
  await actFor(one, owner.wallet)
  return one
}

export async function jsonOf(answer: Response | Promise<Response>): Promise<Json> {
  return (await (await answer).json()) as Json
}

// biome-ignore lint/suspicious/noExplicitAny: answers are what a stranger would read
type Json = any
