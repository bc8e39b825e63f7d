/** Checks the anchor of a log on the chain. */
import { fromHex, type Hex, toHex } from '../kernel/hex.ts'
import { toChecksumAddress } from './address.ts'
import { fail, type Outcome, pass, skip, told, unavailable } from './checks.ts'
import { keccak256 } from './keccak.ts'
import type { Proof } from './proof.ts'
import { domain } from './receipt-structs.ts'

export type AnchorCheckName = 'anchor' | 'anchor_final'

/**
 * The chain's state of a log, read by the caller. The registry and the owner are those that the
 * reader trusts, never taken from a file.
 */
export type ChainEvidence =
  | {
      status: 'read'
      /** The contract that was asked, on chain 4663. */
      registry: string
      /** The address that opened the log there; `log` is its {@link registryLogId}. */
      owner: string
      log: Hex
      /** The size that was asked for. */
      size: string
      /** The registry's root of that size in the latest block; null for none. */
      root: Hex | null
      /** The registry's root of that size in the latest final block; null for none. */
      finalRoot: Hex | null
      /** Whether the registry lets the receipt's signer sign at its index. */
      signerAllowed: boolean
      /** A caveat for the reader about how the chain was read. */
      note?: string
    }
  | { status: 'unavailable'; reason: string }

export type AnchorOutcomes = Record<AnchorCheckName, Outcome>

/** The id that `AnchorRegistry` gives to the log of an origin: its owner alone can open it. */
export function registryLogId(registry: string, owner: string, origin: string): Hex {
  const words = new Uint8Array(128)
  new DataView(words.buffer).setBigUint64(24, BigInt(domain.chainId))
  words.set(fromHex(registry.toLowerCase()), 44)
  words.set(fromHex(owner.toLowerCase()), 76)
  words.set(keccak256(new TextEncoder().encode(origin)), 96)
  return toHex(keccak256(words))
}

/** The facts to ask the chain about, for a receipt that is in the log. */
export type AnchorClaim = {
  proof: Proof
  /** The receipt's signer; null while unknown. The registry must list it for the log. */
  signer: string | null
}

/** Judges where the log's root stands on the chain. What a file says of it proves nothing. */
export function checkAnchor(
  { proof, signer }: AnchorClaim,
  evidence: ChainEvidence | undefined,
  required: boolean,
): AnchorOutcomes {
  if (evidence?.status === 'read') return checkRead(proof, signer, evidence, required)
  const { status } = proof.anchor
  if (!isAnchored(proof) && !evidence) return both(notYet(status, required))
  return both(unavailable(evidence?.reason ?? howToAsk))
}

/** Whether its file says that the root is on the chain; the chain alone can prove it. */
export const isAnchored = ({ anchor }: Pick<Proof, 'anchor'>): boolean =>
  anchor.status === 'confirmed' || anchor.status === 'final'

const howToAsk =
  'The chain was not asked. Ask it yourself: counterfoil verify <file> --signer 0x… ' +
  '--rpc URL --registry 0x…'

type ReadEvidence = Extract<ChainEvidence, { status: 'read' }>

function checkRead(
  proof: Proof,
  signer: string | null,
  evidence: ReadEvidence,
  required: boolean,
): AnchorOutcomes {
  const { size, root, issuer } = proof.checkpoint
  if (evidence.log !== registryLogId(evidence.registry, evidence.owner, issuer)) {
    return both(fail(`The chain was asked about another log than that of ${told(issuer)}.`))
  }
  if (evidence.size !== size) {
    return both(fail(`The chain was asked about size ${evidence.size}, not ${size}.`))
  }
  const where = `registry ${toChecksumAddress(evidence.registry)}`
  if (evidence.root === null) {
    if (!isAnchored(proof)) return both(notYet(proof.anchor.status, required))
    const opener = `the log of owner ${toChecksumAddress(evidence.owner)}`
    const none = `At size ${size}, expected the root ${root}; found none for ${opener} in ${where}.`
    return both(fail(none))
  }
  if (evidence.root !== root) {
    return both(fail(`At size ${size}, expected the root ${root}; found ${evidence.root} there.`))
  }
  if (signer !== null && !evidence.signerAllowed) {
    const index = `log index ${proof.index}`
    return both(fail(`The root is there, but the ${where} does not let ${signer} sign ${index}.`))
  }
  const note = evidence.note === undefined ? '' : ` ${evidence.note}`
  return {
    anchor: pass(`The ${where} on chain 4663 has this root at size ${size}.${note}`),
    anchor_final: checkFinal(root, evidence),
  }
}

function checkFinal(root: Hex, { finalRoot }: ReadEvidence): Outcome {
  if (finalRoot === root) return pass('A final block has the same root: it stays for ever.')
  return finalRoot === null
    ? unavailable('The block of the anchor is not final yet. Ask again in some minutes.')
    : fail(`Expected the root ${root} in the final block; found ${finalRoot} there.`)
}

function notYet(status: Proof['anchor']['status'], required: boolean): Outcome {
  const reason =
    status === 'disabled'
      ? 'This log is not anchored on a chain.'
      : 'Not anchored yet. Get the proof again later: GET /v1/receipts/<id>/proof'
  return required ? unavailable(reason) : skip(reason)
}

const both = (outcome: Outcome): AnchorOutcomes => ({ anchor: outcome, anchor_final: outcome })
