/** The people of the showcase: test wallets, and what they do beside a demonstration's month. */
import type { Step } from '../../src/app/demo/lives.ts'
import {
  type Call,
  type DemoRequest,
  type People,
  peopleOf,
  requestOf,
} from '../../src/app/demo/people.ts'
import { claimText } from '../../src/billing/deposits/claim.ts'
import { type LocalChain, testWallet } from './chain.ts'
import { booksUrl, onCallUrl } from './receivers.ts'

/** Calls a service as a program does. */
export const callAt = (origin: string, path: string, asked?: DemoRequest): Promise<Response> =>
  fetch(requestOf(origin, path, asked))

/** People of a service at an address. The first one is its operator. */
export const showcasePeople = (call: Call): People => peopleOf(call, [3, 4, 5].map(testWallet))

/** Steps that need a chain, or a server elsewhere. */
export const moreSteps = ([ada, , cleo]: People, chain: LocalChain): Step[] => {
  const onCall = { url: onCallUrl, description: 'on call' }
  const books = { url: booksUrl, description: 'bookkeeping' }
  return [
    { at: 0.03, act: () => ada.portal('/webhooks', onCall) },
    { at: 0.95, act: () => ada.portal('/webhooks', books) },
    { at: 0.35, act: () => claimOf(cleo, chain) },
  ]
}

/** Another wallet pays, and signs that the money is Cleo's. */
async function claimOf(cleo: People[2], chain: LocalChain): Promise<() => Promise<unknown>> {
  const other = testWallet(6)
  const tx_hash = await chain.pay(other.address, 6)
  const message = claimText(tx_hash, cleo.wallet.address.toLowerCase())
  const signature = await other.signMessage({ message })
  return () => cleo.portal('/deposits/claim', { tx_hash, signature })
}
