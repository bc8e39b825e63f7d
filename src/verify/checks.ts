/** The single checks of a receipt. */
import { fromHex, type Hex, toHex } from '../kernel/hex.ts'
import { toChecksumAddress } from './address.ts'
import { commit } from './commitment.ts'
import { type Disclosures, isHidden, type Problem, type Receipt } from './receipt.ts'
import type { Recovery } from './signature.ts'

/** In the order of a verdict. */
export const checkNames = [
  'schema',
  'digest',
  'signature',
  'signer_authorized',
  'issuer',
  'arithmetic',
  'quote',
  'leaf',
  'inclusion',
  'checkpoint_signature',
  'checkpoint_consistent',
  'anchor',
  'anchor_final',
  'witnessed',
  'attested',
  'content_input',
  'content_output',
  'known_here',
] as const

export type CheckName = (typeof checkNames)[number]
export type CheckStatus = 'pass' | 'fail' | 'skip' | 'unavailable'
export type Check = { name: CheckName; status: CheckStatus; reason: string }

/** Outcome of one check, before it has its name. */
export type Outcome = { status: CheckStatus; reason: string }

/** A key that may sign receipts with log index `fromIndex` ≤ i < `untilIndex`. */
export type TrustedSigner = { address: string; fromIndex?: bigint; untilIndex?: bigint }

export const pass = (reason: string): Outcome => ({ status: 'pass', reason })
export const fail = (reason: string): Outcome => ({ status: 'fail', reason })
export const skip = (reason: string): Outcome => ({ status: 'skip', reason })
export const unavailable = (reason: string): Outcome => ({ status: 'unavailable', reason })

/** Quotes text of a file in a reason: shortened, without control characters. */
export const told = (text: string, most = 100): string => {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
  return plain.length > most ? `${plain.slice(0, most)}…` : plain
}

export const checkSchema = (problems: readonly Problem[]): Outcome =>
  problems.length === 0
    ? pass('The file is a receipt of version 1.')
    : fail(problems.map(({ path, message }) => `${told(path)}: ${message}`).join('; '))

export const checkDigest = (claimed: string, computed: Hex): Outcome =>
  claimed === computed
    ? pass('The digest follows from the fields.')
    : fail(`Something was changed: expected ${computed} from the fields; found ${told(claimed)}.`)

export const checkSignature = (recovered: Recovery): Outcome =>
  recovered.ok ? pass(`Made by the key of ${recovered.address}.`) : fail(recovered.reason)

/** Validity goes by log index, not by clock: a stolen key can write any date. */
export function checkSigner(
  recovered: Recovery,
  trusted: readonly TrustedSigner[] | undefined,
  index: bigint | undefined,
): Outcome {
  if (!recovered.ok) return skip('There is no signer to look at.')
  if (!trusted) return unavailable('No trusted signer was given.')
  const address = recovered.address.toLowerCase()
  const entries = trusted.filter((signer) => signer.address.toLowerCase() === address)
  if (entries.length === 0) {
    const named = trusted.map((signer) => toChecksumAddress(signer.address)).join(' or ')
    return fail(
      `Expected a signature of ${named || 'a trusted signer'}; found one of ${recovered.address}.`,
    )
  }
  if (index === undefined) {
    return entries.some(({ untilIndex }) => untilIndex === undefined)
      ? pass(`${recovered.address} is a trusted signer.`)
      : unavailable('This key was retired; only a receipt with a known log index can rely on it.')
  }
  const inRange = entries.some(
    ({ fromIndex, untilIndex }) =>
      (fromIndex === undefined || fromIndex <= index) &&
      (untilIndex === undefined || index < untilIndex),
  )
  return inRange
    ? pass(`${recovered.address} is a trusted signer at log index ${index}.`)
    : fail(`${recovered.address} may not sign at log index ${index}.`)
}

export function checkIssuer(issuer: string, trusted: readonly string[] | undefined): Outcome {
  if (!trusted) return skip('No issuer was named to compare with.')
  return trusted.includes(issuer)
    ? pass('The issuer is the expected one.')
    : fail(`Expected the issuer ${trusted.join(' or ')}; found ${told(issuer)}.`)
}

/** ceil(Σ quantity × price / 1000) nano-USD, less the discount, which is rounded down. */
export function checkArithmetic(charge: Receipt['charge']): Outcome {
  if (isHidden(charge)) return skip('The charge is hidden.')
  if (charge.unit !== 'nUSD') return fail('The unit is not nUSD.')
  const discountBps = BigInt(charge.discountBps)
  if (discountBps > 10_000n) return fail('The discount is more than everything.')
  let sum = 0n
  for (const line of charge.lines) sum += BigInt(line.quantity) * BigInt(line.price)
  const cost = (sum + 999n) / 1000n
  const amount = cost - (cost * discountBps) / 10_000n
  return amount === BigInt(charge.amount)
    ? pass('The amount follows from the lines and the discount.')
    : fail(`Expected ${amount} from the lines and the discount; found ${charge.amount}.`)
}

/** How `charge.priceList` names a quote. */
export const quotePrefix = 'quote:'

/** Compares a receipt with the quote that it names; pages that have none leave its code out. */
export type QuoteCheck = (
  receipt: Receipt,
  signers: readonly TrustedSigner[] | undefined,
) => Outcome

/** Without the quote nothing is decided. */
export const noQuote: QuoteCheck = ({ charge }) =>
  skip(
    !isHidden(charge) && charge.priceList.startsWith(quotePrefix)
      ? 'The receipt names a quote, which was not given to compare with.'
      : 'No quote was given.',
  )

/** Checks what the upstream of a run signed; pages that have no such file leave its code out. */
export type EvidenceCheck = (
  receipt: Receipt,
  digest: Uint8Array,
  trust: {
    signers?: readonly TrustedSigner[] | undefined
    /** Keys of upstreams that the reader knows. */
    upstreamKeys?: readonly string[] | undefined
  },
) => Outcome

/** Whether the disclosed value is what the receipt committed to. */
export function checkContent(
  name: 'input' | 'output',
  content: Receipt['content'],
  disclosures: Disclosures | undefined,
): Outcome {
  const disclosed = disclosures?.[name]
  if (!disclosed || disclosed.value === undefined) return skip(`The ${name} was not disclosed.`)
  if (isHidden(content)) return fail(`The ${name} is shown, but the commitments are hidden.`)
  try {
    const opened = toHex(commit(`${name}/v1`, fromHex(disclosed.salt), disclosed.value))
    return opened === content[name]
      ? pass(`The ${name} is the one committed to.`)
      : fail(`The ${name} or its salt is not the one committed to.`)
  } catch {
    // A lone surrogate, or nested deeper than the stack.
    return fail(`The ${name} has no canonical form.`)
  }
}
