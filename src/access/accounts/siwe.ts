import { chainId } from '../../kernel/chain.ts'
import type { Millis } from '../../kernel/clock.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import { toChecksumAddress } from '../../verify/address.ts'

/** Bytes of a message. The parser takes time with long ones, and no wallet shows them well. */
const maxMessageBytes = 2048
/** Lines of a message: all fields, and room for resources. */
const maxLines = 40
/** How far a client's clock may be off, in ms. */
const skewMs = 60_000

const statement = 'Sign in to Counterfoil. This costs nothing and sends no transaction.'

/** What a well-formed message says (EIP-4361). Times as written there. */
export type SiweMessage = {
  scheme?: string | undefined
  domain: string
  address: string
  uri: string
  version: string
  chainId: number
  nonce: string
  issuedAt?: string | undefined
  expirationTime?: string | undefined
  notBefore?: string | undefined
}

/** Why a message or a signature is not taken, as `metadata.reason` and the audit name it. */
export type SignInFault =
  | 'size'
  | 'grammar'
  | 'not_canonical'
  | 'domain'
  | 'scheme'
  | 'uri'
  | 'version'
  | 'chain_id'
  | 'address'
  | 'issued_at'
  | 'expired'
  | 'not_before'
  | 'nonce'
  | 'signature'

/** The whole text for a wallet to sign. */
export const writeSiwe = (wish: {
  baseUrl: string
  address: string
  nonce: string
  issuedAt: Millis
  expiresAt: Millis
}): string =>
  textOf(wish.baseUrl, {
    address: toChecksumAddress(wish.address),
    nonce: wish.nonce,
    issuedAt: toRfc3339(wish.issuedAt),
    expiresAt: toRfc3339(wish.expiresAt),
  })

/** The same text for people to see beforehand; it cannot be signed in with. */
export const sampleSiwe = (baseUrl: string): string =>
  textOf(baseUrl, {
    address: '(your wallet address)',
    nonce: '(new each time)',
    issuedAt: '(now)',
    expiresAt: '(in five minutes)',
  })

const textOf = (
  baseUrl: string,
  told: { address: string; nonce: string; issuedAt: string; expiresAt: string },
): string => `${new URL(baseUrl).host} wants you to sign in with your Ethereum account:
${told.address}

${statement}

URI: ${baseUrl}
Version: 1
Chain ID: ${chainId}
Nonce: ${told.nonce}
Issued At: ${told.issuedAt}
Expiration Time: ${told.expiresAt}`

/**
 * Reads a message by EIP-4361's grammar, and only if it is written the one way that the grammar's
 * own writer would: what the wallet showed is what is read.
 * @throws Refusal 'payload_too_large', 'invalid_request'
 */
export async function parseSiwe(raw: string): Promise<SiweMessage> {
  const lines = raw.split('\n', maxLines + 1).length
  if (Buffer.byteLength(raw) > maxMessageBytes || lines > maxLines) {
    refuse('payload_too_large', {
      message: `The message is longer than ${maxMessageBytes} bytes or ${maxLines} lines.`,
      param: 'message',
      metadata: { reason: 'size' satisfies SignInFault },
    })
  }
  // Imported at the first sign-in: it brings ethers with it, which a start need not wait for.
  const { SiweMessage } = await import('siwe')
  let parsed: InstanceType<typeof SiweMessage>
  try {
    parsed = new SiweMessage(raw)
  } catch {
    return refuseForm('grammar', 'The message is not an EIP-4361 text. Nothing was signed in.')
  }
  if (parsed.toMessage() !== raw) {
    refuseForm('not_canonical', 'The message is not in its one canonical form.')
  }
  return parsed
}

/**
 * Checks that a message is for this site and this chain.
 * @throws Refusal 'signature_invalid' whose `metadata.reason` names the field
 */
export function checkPlace(message: SiweMessage, baseUrl: string): void {
  const { host, protocol } = new URL(baseUrl)
  if (message.domain !== host) refuseField('domain', `domain must be ${host}`)
  if (message.scheme !== undefined && `${message.scheme}:` !== protocol) {
    refuseField('scheme', `scheme, if there is one, must be ${protocol}//`)
  }
  if (!isWithin(message.uri, baseUrl)) refuseField('uri', `URI must be of ${baseUrl}`)
  if (message.version !== '1') refuseField('version', 'Version must be 1')
  if (message.chainId !== chainId) refuseField('chain_id', `Chain ID must be ${chainId}`)
  if (message.address !== toChecksumAddress(message.address)) {
    refuseField('address', 'the address must have its EIP-55 checksum')
  }
}

/**
 * Checks that a message is good now: neither expired nor too early.
 * @throws Refusal 'signature_invalid'
 */
export function checkTimes(message: SiweMessage, now: Millis): void {
  const { expirationTime, notBefore } = message
  if (expirationTime !== undefined && !(now < timeOf(expirationTime))) {
    refuseField('expired', 'its Expiration Time has passed')
  }
  if (notBefore !== undefined && !(timeOf(notBefore) <= now)) {
    refuseField('not_before', 'its Not Before has not come yet')
  }
}

/**
 * Checks that a message was written between when its nonce was made and now, give or take what
 * clocks differ by.
 * @throws Refusal 'signature_invalid'
 */
export function checkIssued(message: SiweMessage, nonceIssuedAt: Millis, now: Millis): void {
  const at = timeOf(message.issuedAt)
  if (!(at >= nonceIssuedAt - skewMs && at <= now + skewMs)) {
    refuseField('issued_at', 'Issued At must lie between when the nonce was made and now')
  }
}

/** Compared as text: a reading of the URI that another program does not share decides nothing. */
const isWithin = (uri: string, origin: string): boolean =>
  uri === origin || ['/', '?', '#'].some((next) => uri.startsWith(origin + next))

/** NaN, which compares as false with everything, for what is no time. */
const timeOf = (text: string | undefined): Millis => parseTime(text ?? '') ?? Number.NaN

function refuseForm(reason: SignInFault, message: string): never {
  refuse('invalid_request', { message, param: 'message', metadata: { reason } })
}

function refuseField(reason: SignInFault, what: string): never {
  const message = `The message is not one to sign in here with: ${what}. Nothing was signed in.`
  refuse('signature_invalid', { message, param: 'message', metadata: { reason } })
}
