import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { signedSample } from '../../src/access/accounts/reference.ts'
import { memberSample, tokenSample } from '../../src/access/members/reference.ts'
import { sampleIds, sampleWallet } from '../../src/web/http/shape.ts'
import {
  type Example,
  methodOf,
  type Operation,
  pathOf,
} from '../../src/web/reference/operation.ts'
import { askNonce, type Browser, browser, signInWith } from '../access/accounts/wallet.ts'
import { type Depositing, units } from '../billing/deposits/depositing.ts'
import { type StubChain, transferLog } from '../billing/deposits/stub-chain.ts'
import { countAll } from '../proof/passports/office.ts'
import { usd, type World } from '../support/world.ts'
import { bodyOf, makeFixtures, urlOf } from './fixtures.ts'

/** Someone signed in, an operator too, with one of everything that examples act on. */
export type Person = {
  own: Browser
  account: string
  /** Samples of the reference, and what stands for them here. */
  ids: Record<string, string>
}

type Signer = ReturnType<typeof privateKeyToAccount>
type Service = { w: Depositing; chain: StubChain }

/** The wallets of the examples; only the second one has an account of another person. */
const otherSample = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** A person with a fresh account, for a test that may change all of it. */
export async function makePerson({ w, chain }: Service, operation: Operation): Promise<Person> {
  const signer = privateKeyToAccount(generatePrivateKey())
  const account = signer.address.toLowerCase()
  const { ids } = await makeFixtures(w as unknown as World, account)
  await w.key({ account, balance: 100n * usd })
  const elsewhere = browser(w)
  await signInWith(elsewhere, signer)
  const own = browser(w)
  await signInWith(own, signer)
  w.deps.settings.admins = [account]
  const other = browser(w)
  const theirs = privateKeyToAccount(generatePrivateKey())
  await signInWith(other, theirs)
  const sessions = await (await own.call('/api/portal/sessions')).json()
  const { id: sess } = sessions.data.find(({ current }: { current: boolean }) => !current)
  const handle = `new-${account.slice(2, 14)}`
  return {
    own,
    account,
    ids: {
      ...ids,
      'new-scout': handle,
      'form-scout': `${handle}-f`,
      [otherSample]: theirs.address,
      [sampleIds.sess]: sess,
      ...(await idsFor(operation, { service: { w, chain }, own, signer, other: theirs })),
    },
  }
}

type Cast = { service: Service; own: Browser; signer: Signer; other: Signer }

/** What only some examples need. */
async function idsFor(
  operation: Operation,
  { service, own, signer, other }: Cast,
): Promise<Record<string, string>> {
  if (operation.id === 'finishSignIn') {
    const { message } = await askNonce(own, signer.address)
    return {
      [signedSample.message]: message,
      [signedSample.signature]: await signer.signMessage({ message }),
    }
  }
  if (operation.id === 'grantAccount') {
    const path = `/api/portal/admin/accounts/${other.address}`
    const { once } = await (await own.call(path)).json()
    return { '1785585600000.0123456789abcdef': once }
  }
  if (operation.id in memberIds)
    return memberIds[operation.id]?.({ service, own, signer, other }) ?? {}
  if (operation.id === 'issuePassportStatement') await countAll(service.w as unknown as World)
  if (operation.id !== 'claimDeposit' && operation.id !== 'assignDeposit') return {}
  const { hash } = service.chain.add([transferLog(other.address.toLowerCase(), units(5))])
  service.chain.mine(20)
  await service.w.look()
  const found = (await service.w.all()).find(({ txHash }) => txHash === hash)
  const message = `Counterfoil: credit the deposit ${hash} to ${signer.address}`
  return {
    [`0x${'5c'.repeat(65)}`]: await other.signMessage({ message }),
    [`0x${'5c'.repeat(32)}`]: hash,
    [sampleIds.dep]: found?.id ?? 'none',
  }
}

/** What the examples of members act on: made by the person, or for it by the other one. */
const memberIds: Record<string, (cast: Cast) => Promise<Record<string, string>>> = {
  revokeInvitation: async ({ own }) => {
    await invitedBy(own)
    const listed = await (await own.call('/api/portal/members')).json()
    return { [sampleIds.inv]: listed.invitations[0].id }
  },
  nameMember: memberOf,
  removeMember: memberOf,
  acceptInvitation: async ({ service, other }) => {
    const theirs = browser(service.w)
    await signInWith(theirs, other)
    return { [tokenSample]: await invitedBy(theirs) }
  },
  actFor: async ({ signer }) => ({ [sampleWallet]: signer.address }),
}

async function memberOf({ service, own, other }: Cast): Promise<Record<string, string>> {
  const token = await invitedBy(own)
  const theirs = browser(service.w)
  await signInWith(theirs, other)
  await theirs.call('/api/portal/members/accept', { json: { token } })
  return { [memberSample]: other.address }
}

async function invitedBy(owner: Browser): Promise<string> {
  const answer = await owner.call('/api/portal/members/invite', { json: { role: 'viewer' } })
  const { link } = (await answer.json()) as { link: string }
  return new URL(link).searchParams.get('token') ?? ''
}

type Changes = { body?: string; type?: string; headers?: Record<string, string>; from?: Browser }

/** Sends an example in the name of a person, with another body or other headers if said. */
export function sendAs(
  { own, ids }: Person,
  operation: Operation,
  example: Example,
  { body, type, headers = {}, from = own }: Changes = {},
): Promise<Response> {
  const fixtures = { secret: '', operator: '', ids }
  const form = example.form && new URLSearchParams(filled(example.form, ids)).toString()
  const text = body ?? form ?? bodyOf(example, fixtures)
  const usual = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  return from.call(urlOf(pathOf(operation), example, fixtures), {
    method: methodOf(operation),
    headers: {
      ...example.headers,
      ...(text === undefined ? {} : { 'content-type': type ?? usual }),
      ...headers,
    },
    ...(text === undefined ? {} : { body: text }),
  })
}

const filled = (form: NonNullable<Example['form']>, ids: Person['ids']): Record<string, string> =>
  Object.fromEntries(Object.entries(form).map(([name, value]) => [name, ids[value] ?? value]))
