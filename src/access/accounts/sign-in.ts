import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import type { AuditRow } from '../../storage/db/schema.ts'
import { isAddress } from '../../verify/address.ts'
import { toAccountId } from './account-id.ts'
import { hashToken, lifeMs, newToken, type Visitor } from './session.ts'
import {
  checkIssued,
  checkPlace,
  checkTimes,
  parseSiwe,
  type SignInFault,
  writeSiwe,
} from './siwe.ts'

/** How long a nonce is good for. */
export const nonceLifeMs = 5 * 60_000

/** An EOA's signature: r, s and v. */
const eoaSignature = /^0x[0-9a-fA-F]{130}$/
/** A contract may want other forms; the body's limit bounds them. */
const anySignature = /^0x([0-9a-fA-F]{2}){1,4000}$/

/** Asks a contract wallet whether a signature of a text is its own. */
export type IsContractSignature = (asked: {
  address: string
  message: string
  signature: string
}) => Promise<boolean>

export type Begun = { nonce: string; message: string | undefined; expiresAt: Millis }

/**
 * Begins a sign-in: a nonce that only this browser can use, once, within five minutes. With an
 * address it is for that wallet, and the text to sign comes with it.
 * @throws Refusal 'invalid_request'
 */
export async function beginSignIn(
  { nonces, random, clock, settings }: Pick<Deps, 'nonces' | 'random' | 'clock' | 'settings'>,
  { address, browser }: { address: string | undefined; browser: string },
): Promise<Begun> {
  if (address !== undefined && !isAddress(address)) {
    const message = 'The address is 0x and 40 hex digits, in lower case or with its checksum.'
    refuse('invalid_request', { message, param: 'address' })
  }
  const nonce = Buffer.from(random.bytes(16)).toString('hex')
  const issuedAt = clock.now()
  const expiresAt = issuedAt + nonceLifeMs
  const { baseUrl } = settings
  const message = address && writeSiwe({ baseUrl, address, nonce, issuedAt, expiresAt })
  await nonces.add({
    nonce,
    browserHash: hashToken(browser),
    accountId: address === undefined ? null : toAccountId(address),
    message: message ?? null,
    issuedAt,
    expiresAt,
  })
  return { nonce, message, expiresAt }
}

/** What a browser brings to end its sign-in. `browser`: its cookie; `replaces`: its old session. */
export type Attempt = {
  message: string
  signature: string
  browser: string | undefined
  replaces: string | undefined
  visitor: Visitor
}

export type SignedIn = { token: string; accountId: string; expiresAt: Millis }

type Needs = Pick<
  Deps,
  | 'nonces'
  | 'sessions'
  | 'accounts'
  | 'ledger'
  | 'clock'
  | 'random'
  | 'ids'
  | 'settings'
  | 'isContractSignature'
>

/**
 * Signs in whoever signed the message, and opens the account at the first time. The audit keeps
 * how it ended, and nothing that could be used again.
 * @throws Refusal 'invalid_request', 'payload_too_large', 'nonce_invalid', 'signature_invalid',
 * 'account_suspended', 'chain_unavailable'
 */
export async function signIn(deps: Needs, attempt: Attempt): Promise<SignedIn> {
  const claimed = { account: '' }
  try {
    const accountId = await verifyAttempt(deps, attempt, claimed)
    return await openSession(deps, accountId, attempt)
  } catch (error) {
    if (error instanceof Refusal) {
      const reason = String(error.detail.metadata?.['reason'] ?? error.type)
      await deps.sessions.note(
        auditOf(deps, attempt.visitor, {
          action: 'sign_in.failed',
          accountId: claimed.account,
          detail: { reason },
        }),
      )
    }
    throw error
  }
}

/** The account that signed; `claimed` learns whose sign-in it is said to be before that is sure. */
async function verifyAttempt(
  deps: Needs,
  { message, signature, browser }: Attempt,
  claimed: { account: string },
): Promise<string> {
  const { nonces, settings, clock, isContractSignature } = deps
  const parsed = await parseSiwe(message)
  if (!(isContractSignature ? anySignature : eoaSignature).test(signature)) {
    const text = 'The signature is 0x and 130 hex digits (65 bytes). Nothing was signed in.'
    refuse('invalid_request', { message: text, param: 'signature' })
  }
  const now = clock.now()
  const accountId = toAccountId(parsed.address)
  claimed.account = accountId
  checkPlace(parsed, settings.baseUrl)
  checkTimes(parsed, now)
  const browserHash = browser === undefined ? undefined : hashToken(browser)
  const known = browserHash && (await nonces.find(parsed.nonce, browserHash, now))
  if (!browserHash || !known) return refuseNonce()
  if (known.accountId !== null && known.accountId !== accountId) refuseNonce()
  checkIssued(parsed, known.issuedAt, now)
  // From here the nonce is used up, whatever comes out.
  if (!(await nonces.take(parsed.nonce, browserHash, now))) refuseNonce()
  const asked = { address: parsed.address, message, signature }
  const signed = (await isSignatureOf(asked)) || (await isContractSignature?.(asked))
  if (!signed) refuse('signature_invalid', { metadata: { reason: 'signature' } })
  return accountId
}

function refuseNonce(): never {
  refuse('nonce_invalid', { metadata: { reason: 'nonce' satisfies SignInFault } })
}

/** Whether a key signed the text, as it was received. Found out offline. */
export async function isSignatureOf(asked: Parameters<IsContractSignature>[0]): Promise<boolean> {
  if (!eoaSignature.test(asked.signature)) return false
  const { verifyMessage } = await import('viem/utils')
  const { address, message, signature } = asked as Record<keyof typeof asked, `0x${string}`>
  return verifyMessage({ address, message, signature }).catch(() => false)
}

async function openSession(
  deps: Needs,
  accountId: string,
  { replaces, visitor }: Attempt,
): Promise<SignedIn> {
  // The ledger opens accounts, once, however many first sign-ins there are at a time.
  await deps.ledger.post({ account: accountId, opens: true, keys: [], decide: () => {} })
  const account = await deps.accounts.find(accountId)
  if (account?.status !== 'active') refuse('account_suspended')
  const now = deps.clock.now()
  const token = newToken(deps.random)
  const session = {
    id: deps.ids.make('sess'),
    tokenHash: hashToken(token),
    accountId,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + lifeMs,
    userAgent: visitor.userAgent,
    clientAddress: visitor.clientAddress,
  }
  const audit = auditOf(deps, visitor, { action: 'sign_in', accountId, subject: session.id })
  await deps.sessions.open(session, replaces && hashToken(replaces), audit)
  return { token, accountId, expiresAt: session.expiresAt }
}

/** A line of the audit: who, from where, in which request; never a signature or a cookie. */
export function auditOf(
  { clock, ids }: Pick<Deps, 'clock' | 'ids'>,
  visitor: Visitor,
  what: { action: string; accountId: string; subject?: string; detail?: Record<string, Json> },
): AuditRow {
  return {
    id: ids.make('req'),
    at: clock.now(),
    actor: what.accountId,
    action: what.action,
    accountId: what.accountId,
    subject: what.subject ?? what.accountId,
    detail: {
      client_address: visitor.clientAddress,
      user_agent_sha256: sha256Hex(visitor.userAgent),
      request_id: visitor.requestId,
      ...what.detail,
    },
  }
}
