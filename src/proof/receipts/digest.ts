import { makeHmacSha256 } from '../../kernel/hash.ts'
import type { MeterLine } from '../../models/model.ts'
import { domainSeparator } from '../../verify/eip712.ts'
import { pad } from '../../verify/keccak-wasm.ts'
import { makeStructMemory, type StructMemory } from '../../verify/struct-memory.ts'
import { writeBytes } from '../../verify/typed-data.ts'
import type { ReceiptFacts } from './receipt.ts'

/** Lines that a digest has room for. */
export const mostLines = 16

/**
 * The digest of receipts without an object or a copy: every struct has its place in the memory of
 * the keccak, and each hash is written where the struct above it wants it. Takes at most
 * {@link mostLines} lines; gives 32 new bytes, those of `structDigest('Receipt', …)`.
 * @throws when a member does not fit its type.
 */
export function makeReceiptDigest(): (facts: ReceiptFacts) => Uint8Array {
  const memory = makeStructMemory()
  const receipt = memory.place('Receipt')
  const hashSubject = subjectHasher(memory)
  const hashPassport = passportHasher(memory)
  const hashRun = runHasher(memory)
  const hashCharge = chargeHasher(memory)
  const hashContent = contentHasher(memory)
  const signed = memory.reserve(66)
  memory.bytes.set([0x19, 0x01, ...domainSeparator()], signed)
  pad(memory.bytes, signed, 66)
  return (facts) => {
    memory.newText(facts.id, receipt.member(0))
    memory.text(facts.issuer, receipt.member(1))
    memory.uint64(facts.issuedAt, receipt.member(2))
    hashSubject(facts, receipt.member(3))
    hashPassport(facts, receipt.member(4))
    hashRun(facts, receipt.member(5))
    hashCharge(facts, receipt.member(6))
    hashContent(facts, receipt.member(7))
    receipt.hash(signed + 34)
    memory.hash(signed, 66, 0)
    return memory.bytes.slice(0, 32)
  }
}

/** Writes the hash of one struct of a receipt to `out`. */
type Hasher = (facts: ReceiptFacts, out: number) => void

function subjectHasher(memory: StructMemory): Hasher {
  const subject = memory.place('Subject')
  const writeSalt = salter(memory, 'subject', subject.member(2))
  return (facts, out) => {
    writeBytes(facts.account, 20, memory.bytes, subject.member(0) + 12)
    memory.text(facts.keyId, subject.member(1))
    writeSalt(facts.seed)
    subject.hash(out)
  }
}

function passportHasher(memory: StructMemory): Hasher {
  const passport = memory.place('Passport')
  const writeSalt = salter(memory, 'passport', passport.member(1))
  return (facts, out) => {
    memory.text(facts.passportHandle, passport.member(0))
    writeSalt(facts.seed)
    passport.hash(out)
  }
}

function runHasher(memory: StructMemory): Hasher {
  const place = memory.place('Run')
  const writeSalt = salter(memory, 'run', place.member(7))
  return ({ run, seed }, out) => {
    memory.text(run.kind, place.member(0))
    memory.text(run.model, place.member(1))
    memory.text(run.route, place.member(2))
    memory.text(run.outcome, place.member(3))
    memory.uint64(run.startedAt, place.member(4))
    memory.uint64(run.durationMs, place.member(5))
    memory.text(run.usageSource, place.member(6))
    writeSalt(seed)
    place.hash(out)
  }
}

function chargeHasher(memory: StructMemory): Hasher {
  const place = memory.place('Charge')
  const hashLines = linesHasher(memory)
  const writeSalt = salter(memory, 'charge', place.member(5))
  return ({ charge, seed }, out) => {
    memory.text('nUSD', place.member(0))
    hashLines(charge.lines, place.member(1))
    memory.uint64(charge.discountBps, place.member(2))
    memory.uint64(charge.amount, place.member(3))
    memory.text(charge.priceList, place.member(4))
    writeSalt(seed)
    place.hash(out)
  }
}

function linesHasher(memory: StructMemory): (lines: readonly MeterLine[], out: number) => void {
  const place = memory.place('Line')
  const list = memory.reserve(32 * mostLines)
  let padded = -1
  return (lines, out) => {
    if (lines.length > mostLines) throw new RangeError('too many lines')
    const before = padded
    // Lines that lead up to a wrong one are written over it.
    padded = -1
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i]
      if (!line) continue
      memory.text(line.meter, place.member(0))
      memory.uint64(line.quantity, place.member(1))
      memory.uint64(line.pricePusd, place.member(2))
      place.hash(list + 32 * i)
    }
    const length = 32 * lines.length
    // A list as long as the one before finds its padding in place.
    if (length !== before) pad(memory.bytes, list, length)
    padded = length
    memory.hash(list, length, out)
  }
}

function contentHasher(memory: StructMemory): Hasher {
  const content = memory.place('Content')
  return ({ inputCommitment, outputCommitment }, out) => {
    memory.bytes32(inputCommitment, content.member(0))
    memory.bytes32(outputCommitment ?? noBytes, content.member(1))
    content.hash(out)
  }
}

const noBytes = new Uint8Array(32)

/** Writes the salt of one struct where the struct wants it. */
function salter(memory: StructMemory, name: string, at: number): (seed: Uint8Array) => void {
  const hmac = makeHmacSha256(`salt/v1/${name}`)
  const out = memory.bytes.subarray(at, at + 32)
  return (seed) => hmac(seed, out)
}
