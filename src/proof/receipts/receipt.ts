/** The receipt of an ended run: its facts, its digest and its commitments. */
import { canonical, type Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { makeHmacSha256, sha256, sha256Into } from '../../kernel/hash.ts'
import { type Hex, toHex } from '../../kernel/hex.ts'
import { receiptIdOf } from '../../kernel/ids.ts'
import type { Nusd } from '../../kernel/money.ts'
import { costOf, type MeterLine } from '../../models/meter.ts'
import type { EndedRun, RunRow } from '../../storage/db/schema/schema.ts'
import type { CommitmentTag } from '../../verify/commitment.ts'
import { structDigest } from '../../verify/eip712.ts'
import type { FullReceipt } from '../../verify/receipt.ts'
import { receiptDigest } from '../../verify/receipt.ts'
import type { Value } from '../../verify/typed-values.ts'

export { receiptIdOf, runIdOf } from '../../kernel/ids.ts'

/** The facts of an ended run that its receipt is made of. */
export type ReceiptFacts = {
  id: string
  /** Public origin: lower case, no trailing slash. */
  issuer: string
  issuedAt: Millis
  /** Lower-case hex or EIP-55; stands in the receipt as given, its 20 bytes are what is signed. */
  account: string
  keyId: string
  /** '' for none. */
  passportHandle: string
  run: {
    kind: 'chat' | 'embedding' | 'terminal'
    model: string
    route: string
    outcome: string
    startedAt: Millis
    /** Whole milliseconds. */
    durationMs: number
    usageSource: string
  }
  charge: {
    lines: readonly MeterLine[]
    discountBps: number
    /** Follows from the lines and the discount. */
    amount: Nusd
    /** `id@version`. */
    priceList: string
  }
  /** 32 bytes: {@link commitInput} of the parsed request body as received. */
  inputCommitment: Uint8Array
  /** {@link commitOutput} of the choices or the embeddings; null without any output. */
  outputCommitment: Uint8Array | null
  /** 32 random bytes of this receipt alone; stored, never public. */
  seed: Uint8Array
}

/** A run that ended, and so has a receipt. */
export type Ended = EndedRun & {
  /** The receipt as it was before its seed was deleted: its salts cannot be made any more. */
  erased?: FullReceipt
}

export const isEnded = (run: RunRow): run is Ended => run.finishedAt !== null

/** Whether the seed was deleted: what the commitments are over can no longer be found out. */
export const isErased = ({ seed }: Pick<RunRow, 'seed'>): boolean => seed.length === 0

/**
 * The digest of a run's receipt, version 1: the leaf of the log and what is signed. Pure.
 * @throws when the amount does not follow from the lines.
 */
export const digestOf = (facts: ReceiptFacts): Uint8Array =>
  structDigest('Receipt', valuesOf(facts))

/** The receipt itself: every number as decimal text, every byte as hex. */
export const makeReceipt = (facts: ReceiptFacts): FullReceipt =>
  asText(valuesOf(facts)) as FullReceipt

/**
 * The receipt of an ended run, rebuilt from its row, or as stored when it was erased.
 * @throws if it differs from the logged receipt: then the row, or this code, changed.
 */
export function receiptOf(run: Ended): FullReceipt {
  const facts = factsOf(run)
  const digest = run.erased ? receiptDigest(run.erased) : digestOf(facts)
  if (toHex(digest) !== toHex(run.digest)) {
    throw new Error(`the receipt of ${run.id} is no longer the one that was logged`)
  }
  return run.erased ?? makeReceipt(facts)
}

/**
 * Reads the facts of a receipt from the run's stored row; its seed is empty after an erasure. A
 * caller that still has the lines unpacked passes them, which saves converting them.
 */
export const factsOf = (
  run: Omit<Ended, 'digest'>,
  lines: readonly MeterLine[] = linesIn(run),
): ReceiptFacts => ({
  id: receiptIdOf(run.id),
  issuer: run.issuer,
  issuedAt: run.finishedAt,
  account: run.accountId,
  keyId: run.keyId,
  passportHandle: run.passport,
  run: {
    kind: run.kind,
    model: run.model,
    route: run.route,
    outcome: run.outcome,
    startedAt: run.startedAt ?? run.createdAt,
    durationMs: run.durationMs,
    usageSource: run.usageSource,
  },
  charge: {
    lines,
    discountBps: run.discountBps,
    amount: run.cost,
    priceList: run.priceList,
  },
  inputCommitment: run.inputCommitment,
  outputCommitment: run.outputCommitment,
  seed: run.seed,
})

const linesIn = ({ lines }: Pick<RunRow, 'lines'>): MeterLine[] =>
  lines.map(({ meter, quantity, price }) => ({
    meter: meter as MeterLine['meter'],
    quantity,
    pricePusd: BigInt(price),
  }))

/**
 * An ended run as one of another issuer: before it has a number, its receipt may go into another
 * log. Undefined for one whose seed was deleted: its digest can no longer be made.
 */
export function reissued(run: EndedRun, issuer: string): EndedRun | undefined {
  if (isErased(run)) return undefined
  return { ...run, issuer, digest: digestOf(factsOf({ ...run, issuer })) }
}

/**
 * The members of the typed data, numbers and bytes still as such. Use them before the next call,
 * which overwrites the salts.
 */
function valuesOf(facts: ReceiptFacts): { [member: string]: Value } {
  assertAmount(facts)
  const { run, charge, seed } = facts
  return {
    id: facts.id,
    issuer: facts.issuer,
    issuedAt: facts.issuedAt,
    subject: { account: facts.account, key: facts.keyId, salt: heldSalt(seed, 'subject') },
    passport: { handle: facts.passportHandle, salt: heldSalt(seed, 'passport') },
    run: { ...run, salt: heldSalt(seed, 'run') },
    charge: {
      unit: 'nUSD',
      lines: charge.lines.map(({ meter, quantity, pricePusd }) => ({
        meter,
        quantity,
        price: pricePusd,
      })),
      discountBps: charge.discountBps,
      amount: charge.amount,
      priceList: charge.priceList,
      salt: heldSalt(seed, 'charge'),
    },
    content: {
      input: facts.inputCommitment,
      output: facts.outputCommitment ?? noBytes,
    },
  }
}

const salts = {
  subject: new Uint8Array(32),
  passport: new Uint8Array(32),
  run: new Uint8Array(32),
  charge: new Uint8Array(32),
}

/** Writes a salt to where the last receipt had its own, so that a run allocates none. */
function heldSalt(seed: Uint8Array, name: keyof typeof salts): Uint8Array {
  writeSalt[name](seed, salts[name])
  return salts[name]
}

function assertAmount({ charge }: ReceiptFacts): void {
  if (costOf(charge.lines, charge.discountBps) !== charge.amount) {
    throw new Error('the amount of a receipt does not follow from its lines')
  }
}

function asText(value: Value): unknown {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return toHex(value)
  if (Array.isArray(value)) return value.map(asText)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asText(member)]))
}

/** Commits to a request before it runs, so that its text need not be kept until it ended. */
export const commitInput = (seed: Uint8Array, input: Json): Uint8Array => writeInput(seed, input)

export const commitOutput = (seed: Uint8Array, output: Json): Uint8Array =>
  writeOutput(seed, output)

/** Each writes one salt of a receipt, made from its seed. */
const writeSalt = {
  subject: makeHmacSha256('salt/v1/subject'),
  passport: makeHmacSha256('salt/v1/passport'),
  run: makeHmacSha256('salt/v1/run'),
  charge: makeHmacSha256('salt/v1/charge'),
  input: makeHmacSha256('salt/v1/input'),
  output: makeHmacSha256('salt/v1/output'),
}

/** SHA-256(tag || 0x00 || salt || SHA-256(JCS)) in one buffer, used again. */
function committer(
  tag: CommitmentTag,
  saltName: keyof typeof writeSalt,
): (seed: Uint8Array, value: Json) => Uint8Array {
  const prefix = new TextEncoder().encode(`${tag}\0`)
  const bytes = new Uint8Array(prefix.length + 64)
  bytes.set(prefix)
  const salt = bytes.subarray(prefix.length, prefix.length + 32)
  const content = bytes.subarray(prefix.length + 32)
  return (seed, value) => {
    writeSalt[saltName](seed, salt)
    sha256Into(canonical(value), content)
    return sha256(bytes)
  }
}

const writeInput = committer('input/v1', 'input')
const writeOutput = committer('output/v1', 'output')

const noBytes = new Uint8Array(32)

/** The commitment of a receipt without an output. */
export const noCommitment: Hex = toHex(noBytes)

/** The salts that, together with the values, open the commitments of a receipt. */
export const contentSalts = (seed: Uint8Array): { input: Uint8Array; output: Uint8Array } => ({
  input: saltOf(seed, 'input'),
  output: saltOf(seed, 'output'),
})

/** As `verify/commitment.ts` has it, with the server's faster hashes; a test keeps them equal. */
function saltOf(seed: Uint8Array, name: keyof typeof writeSalt): Uint8Array {
  const salt = new Uint8Array(32)
  writeSalt[name](seed, salt)
  return salt
}
