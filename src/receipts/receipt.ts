import { canonical, type Json } from '../kernel/canonical.ts'
import type { Millis } from '../kernel/clock.ts'
import { hmacSha256, sha256 } from '../kernel/hash.ts'
import type { Nusd } from '../kernel/money.ts'
import { costOf, type MeterLine } from '../models/model.ts'
import type { CommitmentTag } from '../verify/commitment.ts'
import { receiptDigest } from '../verify/eip712.ts'
import { type Hex, toHex } from '../verify/hex.ts'
import type { FullReceipt } from '../verify/receipt.ts'

/** What is known of a run when it has ended and is to leave a receipt. */
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
  /** Of the parsed request body as received, by {@link commitInput}: 32 bytes. */
  inputCommitment: Uint8Array
  /** The choices in their non-streaming form, or the embeddings; null when nothing came out. */
  output: Json | null
  /** 32 random bytes of this receipt alone; stored, never public. */
  seed: Uint8Array
}

export type MadeReceipt = {
  receipt: FullReceipt
  /** 32 bytes: the leaf of the log and what is signed. */
  digest: Uint8Array
  inputSalt: Hex
  outputSalt: Hex
}

/**
 * Writes the receipt of a run, version 1 (receipts.md, section 1). Pure and deterministic.
 * @throws when the amount does not follow from the lines, or the content has no canonical form.
 */
export function makeReceipt(facts: ReceiptFacts): MadeReceipt {
  const { run, charge, seed } = facts
  if (costOf(charge.lines, charge.discountBps) !== charge.amount) {
    throw new Error('the amount of a receipt does not follow from its lines')
  }
  const salts = contentSalts(seed)
  const receipt: FullReceipt = {
    id: facts.id,
    issuer: facts.issuer,
    issuedAt: facts.issuedAt.toString(),
    subject: { account: facts.account, key: facts.keyId, salt: toHex(saltOf(seed, 'subject')) },
    passport: { handle: facts.passportHandle, salt: toHex(saltOf(seed, 'passport')) },
    run: {
      kind: run.kind,
      model: run.model,
      route: run.route,
      outcome: run.outcome,
      startedAt: run.startedAt.toString(),
      durationMs: run.durationMs.toString(),
      usageSource: run.usageSource,
      salt: toHex(saltOf(seed, 'run')),
    },
    charge: {
      unit: 'nUSD',
      lines: charge.lines.map(({ meter, quantity, pricePusd }) => ({
        meter,
        quantity: quantity.toString(),
        price: pricePusd.toString(),
      })),
      discountBps: charge.discountBps.toString(),
      amount: charge.amount.toString(),
      priceList: charge.priceList,
      salt: toHex(saltOf(seed, 'charge')),
    },
    content: {
      input: toHex(facts.inputCommitment),
      output:
        facts.output === null
          ? noCommitment
          : toHex(commit('output/v1', salts.output, facts.output)),
    },
  }
  return {
    receipt,
    digest: receiptDigest(receipt),
    inputSalt: toHex(salts.input),
    outputSalt: toHex(salts.output),
  }
}

/** Commits to a request before it runs, so that its text need not be kept until it ended. */
export const commitInput = (seed: Uint8Array, input: Json): Uint8Array =>
  commit('input/v1', saltOf(seed, 'input'), input)

/** The commitment of a receipt without an output. */
export const noCommitment: Hex = `0x${'0'.repeat(64)}`

/** What opens the commitments of a receipt, together with the values. */
export const contentSalts = (seed: Uint8Array): { input: Uint8Array; output: Uint8Array } => ({
  input: saltOf(seed, 'input'),
  output: saltOf(seed, 'output'),
})

/** As `verify/commitment.ts` has it, with the server's faster hashes; a test keeps them equal. */
const saltOf = (seed: Uint8Array, name: string): Uint8Array => hmacSha256(seed, `salt/v1/${name}`)

function commit(tag: CommitmentTag, salt: Uint8Array, value: Json): Uint8Array {
  const prefix = tagBytes[tag]
  const bytes = new Uint8Array(prefix.length + 64)
  bytes.set(prefix)
  bytes.set(salt, prefix.length)
  bytes.set(sha256(canonical(value)), prefix.length + 32)
  return sha256(bytes)
}

const tagBytes: Record<CommitmentTag, Uint8Array> = {
  'input/v1': new TextEncoder().encode('input/v1\0'),
  'output/v1': new TextEncoder().encode('output/v1\0'),
}
