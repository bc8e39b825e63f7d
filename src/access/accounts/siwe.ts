/** The sign-in message (EIP-4361): writes, parses and checks it. */
import { chainId } from '../../kernel/chain.ts'
import { type Millis, toRfc3339 } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/refusal.ts'
import { parseTime } from '../../kernel/time-text.ts'
import { toChecksumAddress } from '../../verify/address.ts'

/** Bytes of a message. Long ones are slow to parse, and wallets show them badly. */
const maxMessageBytes = 2048
/** Lines of a message: all fields, with room for resources. */
const maxLines = 40
/** How far a client's clock may be off, in ms. */
const skewMs = 60_000

const statement = 'Sign in to Counterfoil. This costs nothing and sends no transaction.'

/** The fields of a message. Times are as written. */
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

/** Why a sign-in is refused, as `metadata.reason` and the audit name it. */
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

/** The text for a wallet to sign. */
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

/** An example of the text for the sign-in page; signing it does not sign in. */
export const sampleSiwe = (baseUrl: string): string =>
  textOf(baseUrl, {
    address: '(your wallet address)',
    nonce: '(new each time)',
    issuedAt: '(now)',
    expiresAt: '(in five minutes)',
  })

const textOf = (
  baseUrl: string,
  fields: { address: string; nonce: string; issuedAt: string; expiresAt: string },
): string => `${new URL(baseUrl).host} wants you to sign in with your Ethereum account:
${fields.address}

${statement}

URI: ${baseUrl}
Version: 1
Chain ID: ${chainId}
Nonce: ${fields.nonce}
Issued At: ${fields.issuedAt}
Expiration Time: ${fields.expiresAt}`

/**
 * Parses a message in its canonical form alone, so that what the wallet showed is what is read.
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
  // Imported at the first sign-in: it loads ethers, which would slow down every start.
  const { SiweMessage } = await import('siwe')
  let parsed: InstanceType<typeof SiweMessage>
  try {
    parsed = new SiweMessage(raw)
  } catch {
    return refuseForm('grammar', 'The message is not an EIP-4361 text. You were not signed in.')
  }
  if (parsed.toMessage() !== raw) {
    refuseForm('not_canonical', 'The message is not in the canonical form of EIP-4361.')
  }
  return parsed
}

/**
 * Checks that a message is for this site and this chain.
 * @throws Refusal 'signature_invalid' with the field in `metadata.reason`
 */
export function checkSite(message: SiweMessage, baseUrl: string): void {
  const { host, protocol } = new URL(baseUrl)
  if (message.domain !== host) refuseField('domain', `domain must be ${host}`)
  if (message.scheme !== undefined && `${message.scheme}:` !== protocol) {
    refuseField('scheme', `scheme, if given, must be ${protocol}//`)
  }
  if (!isWithin(message.uri, baseUrl)) refuseField('uri', `URI must begin with ${baseUrl}`)
  if (message.version !== '1') refuseField('version', 'Version must be 1')
  if (message.chainId !== chainId) refuseField('chain_id', `Chain ID must be ${chainId}`)
  if (message.address !== toChecksumAddress(message.address)) {
    refuseField('address', 'the address must have its EIP-55 checksum')
  }
}

/**
 * Checks that a message has begun and has not expired.
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
 * Checks that a message was written between the nonce's time and now, within the clock skew.
 * @throws Refusal 'signature_invalid'
 */
export function checkIssued(message: SiweMessage, nonceIssuedAt: Millis, now: Millis): void {
  const at = timeOf(message.issuedAt)
  if (!(at >= nonceIssuedAt - skewMs && at <= now + skewMs)) {
    refuseField('issued_at', 'Issued At must lie between the time of the nonce and now')
  }
}

/** Compared as text, because programs parse URIs differently. */
const isWithin = (uri: string, origin: string): boolean =>
  uri === origin || ['/', '?', '#'].some((next) => uri.startsWith(origin + next))

/** NaN for an invalid time: every comparison with it is false. */
const timeOf = (text: string | undefined): Millis => parseTime(text ?? '') ?? Number.NaN

function refuseForm(reason: SignInFault, message: string): never {
  refuse('invalid_request', { message, param: 'message', metadata: { reason } })
}

function refuseField(reason: SignInFault, what: string): never {
  const message = `This message cannot be used to sign in here: ${what}. You were not signed in.`
  refuse('signature_invalid', { message, param: 'message', metadata: { reason } })
}
