/** Signing in with a wallet (EIP-4361): hands out nonces, verifies signatures, opens sessions. */
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256Hex } from '../../kernel/hash.ts'
import { Refusal, refuse } from '../../kernel/refusal.ts'
import { accountMark, assertHere } from '../../kernel/shard.ts'
import type { AuditRow } from '../../storage/db/schema/schema.ts'
import { isAddress } from '../../verify/address.ts'
import { toAccountId } from './account.ts'
import type { SignedText } from './contract-wallet.ts'
import { nonceLifeMs } from './nonce.ts'
import { hashToken, lifeMs, newToken, type Visitor } from './session.ts'
import {
  checkIssued,
  checkSite,
  checkTimes,
  parseSiwe,
  type SignInFault,
  writeSiwe,
} from './siwe.ts'

/** An EOA's signature: r, s and v. */
const eoaSignature = /^0x[0-9a-fA-F]{130}$/
/** Contract wallets define their own signatures; the body's size bounds them. */
const anySignature = /^0x([0-9a-fA-F]{2}){1,4000}$/

export type SignInChallenge = { nonce: string; message: string | undefined; expiresAt: Millis }

/**
 * Begins a sign-in and returns its nonce. With an address the nonce is for that wallet alone, and
 * the text to sign is returned too.
 * @throws Refusal 'invalid_request', 'misdirected_request' for a wallet of another shard
 */
export async function beginSignIn(
  deps: Pick<Deps, 'nonces' | 'random' | 'clock' | 'settings' | 'shard'>,
  { address, browser }: { address: string | undefined; browser: string },
): Promise<SignInChallenge> {
  const { nonces, random, clock, settings, shard } = deps
  if (address !== undefined && !isAddress(address)) {
    const message = 'Send the address as 0x and 40 hex digits, in lower case or with its checksum.'
    refuse('invalid_request', { message, param: 'address' })
  }
  if (address !== undefined) assertHere(shard, address)
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

/** A signed message. `browser`: the sign-in's cookie; `replaces`: the old session's token. */
export type Attempt = {
  message: string
  signature: string
  browser: string | undefined
  replaces: string | undefined
  visitor: Visitor
}

export type NewSession = { token: string; accountId: string; expiresAt: Millis }

/**
 * Signs in the wallet that signed the message, and opens its account the first time. The audit
 * keeps the outcome and nothing that could be replayed.
 * @throws Refusal 'invalid_request', 'payload_too_large', 'nonce_invalid', 'signature_invalid',
 * 'account_suspended', 'chain_unavailable', 'rate_limited' in a demonstration,
 * 'misdirected_request' for a wallet of another shard
 */
export async function signIn(deps: Deps, attempt: Attempt): Promise<NewSession> {
  const claimed = { account: '' }
  try {
    const accountId = await verifyAttempt(deps, attempt, claimed)
    await deps.demo?.welcome(accountId, attempt.visitor.clientAddress)
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

/** The account that signed. Sets `claimed` before it is verified, for the audit of a failure. */
async function verifyAttempt(
  {
    nonces,
    settings,
    clock,
    isContractSignature,
    shard,
  }: Pick<Deps, 'nonces' | 'settings' | 'clock' | 'isContractSignature' | 'shard'>,
  { message, signature, browser }: Attempt,
  claimed: { account: string },
): Promise<string> {
  const parsed = await parseSiwe(message)
  if (!eoaSignature.test(signature)) assertOfContract(signature, isContractSignature !== undefined)
  const now = clock.now()
  const accountId = toAccountId(parsed.address)
  claimed.account = accountId
  assertHere(shard, accountId)
  checkSite(parsed, settings.baseUrl)
  checkTimes(parsed, now)
  const browserHash = browser === undefined ? undefined : hashToken(browser)
  const known = browserHash && (await nonces.find(parsed.nonce, browserHash, now))
  if (!browserHash || !known) return refuseNonce()
  if (known.accountId !== null && known.accountId !== accountId) refuseNonce()
  checkIssued(parsed, known.issuedAt, now)
  // From here the nonce is used up, even if the signature is wrong.
  if (!(await nonces.take(parsed.nonce, browserHash, now))) refuseNonce()
  const signed = { address: parsed.address, message, signature }
  const isValid = (await isSignatureOf(signed)) || (await isContractSignature?.(signed))
  if (!isValid) refuseSignature(isContractSignature !== undefined)
  return accountId
}

const contractsOff =
  'Contract wallets (smart accounts) cannot sign in here: the operator has to set ' +
  '[chain] rpc_urls, and not [sign_in] contract_wallets = false.'

/** @throws Refusal 'invalid_request' for a signature that no wallet, or none that may, has made */
function assertOfContract(signature: string, areTaken: boolean): void {
  if (!anySignature.test(signature)) {
    refuse('invalid_request', {
      param: 'signature',
      message:
        'Send the signature as 0x and 130 hex digits (65 bytes); that of a contract wallet may ' +
        'be longer. You were not signed in.',
    })
  }
  if (areTaken) return
  refuse('invalid_request', {
    param: 'signature',
    message:
      `This looks like the signature of a contract wallet. ${contractsOff} ` +
      'Or use a wallet with a key of its own. You were not signed in.',
  })
}

function refuseSignature(areContractsTaken: boolean): never {
  const why = areContractsTaken
    ? 'No key of this address made it, and no contract wallet there on chain 4663 accepts it.'
    : contractsOff
  const message = `The signature does not match. Nothing was signed in. ${why}`
  refuse('signature_invalid', { message, metadata: { reason: 'signature' } })
}

function refuseNonce(): never {
  refuse('nonce_invalid', { metadata: { reason: 'nonce' satisfies SignInFault } })
}

/** Whether the address's own key signed the text, byte for byte. Works offline. */
export async function isSignatureOf(signed: SignedText): Promise<boolean> {
  if (!eoaSignature.test(signed.signature)) return false
  const { verifyMessage } = await import('viem/utils')
  const { address, message, signature } = signed as Record<keyof SignedText, `0x${string}`>
  return verifyMessage({ address, message, signature }).catch(() => false)
}

/**
 * Signs in a wallet that is made here, for a visitor of a demonstration who has none: the same
 * nonce, text and checks as for any other. Its key is forgotten at once; the session is what stays.
 * @throws Refusal 'rate_limited'
 */
export async function signInAsVisitor(
  deps: Deps,
  { replaces, visitor }: Pick<Attempt, 'replaces' | 'visitor'>,
): Promise<NewSession> {
  const { privateKeyToAccount } = await import('viem/accounts')
  const wallet = privateKeyToAccount(`0x${Buffer.from(deps.random.bytes(32)).toString('hex')}`)
  const browser = newToken(deps.random)
  const { message = '' } = await beginSignIn(deps, { address: wallet.address, browser })
  const signature = await wallet.signMessage({ message })
  return signIn(deps, { message, signature, browser, replaces, visitor })
}

/** Opens a session of the test account, as if its wallet had signed. Only `--dev` has one. */
export const signInAsTest = (
  deps: Deps,
  accountId: string,
  { replaces, visitor }: Pick<Attempt, 'replaces' | 'visitor'>,
): Promise<NewSession> => openSession(deps, accountId, { replaces, visitor })

async function openSession(
  deps: Deps,
  accountId: string,
  { replaces, visitor }: Pick<Attempt, 'replaces' | 'visitor'>,
): Promise<NewSession> {
  // The ledger opens an account once, also under concurrent first sign-ins.
  await deps.ledger.post({ account: accountId, opens: true, keys: [], isExempt: true, decide() {} })
  const account = await deps.accounts.find(accountId)
  if (account?.status !== 'active') refuse('account_suspended')
  const now = deps.clock.now()
  const token = newToken(deps.random, accountMark(deps.shard, accountId))
  const session = {
    id: deps.ids.make('sess'),
    tokenHash: hashToken(token),
    accountId,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + lifeMs,
    userAgent: visitor.userAgent,
    clientAddress: visitor.clientAddress,
    memberId: null,
  }
  const audit = auditOf(deps, visitor, { action: 'sign_in', accountId, subject: session.id })
  await deps.sessions.open(session, replaces && hashToken(replaces), audit)
  return { token, accountId, expiresAt: session.expiresAt }
}

/** An audit entry: who, from where, in which request. It never holds a signature or a cookie. */
export function auditOf(
  { clock, ids }: Pick<Deps, 'clock' | 'ids'>,
  visitor: Visitor,
  what: {
    action: string
    accountId: string
    /** The wallet that did it, if it acts for another account. */
    actor?: string
    subject?: string
    detail?: Record<string, Json>
  },
): AuditRow {
  return {
    id: ids.make('req'),
    at: clock.now(),
    actor: what.actor ?? what.accountId,
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
