/** How upstreams sign their answers: reads what each scheme serves, and finds who signed. */
import { isAddress } from './address.ts'
import { recoverTextSigner } from './personal-message.ts'
import { isObject } from './receipt.ts'

/** One request to an upstream and its answer, as the service saw them. */
export type ExchangeHashes = {
  /** SHA-256 of the body that was sent, in lower-case hex without a prefix. */
  request: string
  /** SHA-256 of the answer's body in the same form; a stream counts with all of its bytes. */
  answer: string
  /** The model by its name at the upstream. */
  model: string
}

/** Why a document does not prove an exchange. */
export type EvidenceFault = 'unreadable' | 'wrong_hashes' | 'wrong_model' | 'bad_signature'

/** The key that signed the exchange, or why none did. */
export type SignatureResult = { ok: true; key: string } | { ok: false; why: EvidenceFault }

export type EvidenceScheme = {
  /** Whether a text is a key of this scheme as configurations and policies write it. */
  isKey(text: string): boolean
  /** The document to keep, in one spelling; undefined for an answer that is none. */
  read(answer: unknown): string | undefined
  /** Finds the key that signed an exchange by a document that was kept. Never throws. */
  check(document: string, exchanged: ExchangeHashes): SignatureResult
}

const no = (why: EvidenceFault): SignatureResult => ({ ok: false, why })

/** A document of this scheme as it is kept. */
type SignatureDocument = {
  signature: string
  signing_address: string
  signing_algo: string
  text: string
}

/** A text is a model and two hashes. */
const mostText = 512

/**
 * `GET <base>/signature/<id of the answer>`: an EIP-191 signature over
 * `<model>:<sha256 of request>:<sha256 of answer>`; older servers leave the model out.
 */
const nearAi: EvidenceScheme = {
  isKey: isAddress,
  read(answer) {
    if (!isObject(answer)) return undefined
    const { text, signature, signing_address: address, signing_algo: algo } = answer
    if (typeof text !== 'string' || typeof signature !== 'string') return undefined
    if (typeof address !== 'string' || algo !== 'ecdsa') return undefined
    if (text.length > mostText || !text.isWellFormed()) return undefined
    const hex = signature.toLowerCase().replace(/^0x/, '')
    if (!/^[0-9a-f]{130}$/.test(hex) || !/^0x[0-9a-fA-F]{40}$/.test(address)) return undefined
    // Some libraries write the parity of the point in place of 27 or 28.
    const parity = hex.slice(128)
    const v = parity === '00' ? '1b' : parity === '01' ? '1c' : parity
    const spelt = `0x${hex.slice(0, 128)}${v}`
    return JSON.stringify({
      signature: spelt,
      signing_address: address.toLowerCase(),
      signing_algo: algo,
      text,
    })
  },
  check(document, { request, answer, model }) {
    const kept = readKept(document)
    if (!kept) return no('unreadable')
    const hashes = `${request}:${answer}`
    if (kept.text !== hashes) {
      if (!kept.text.endsWith(`:${hashes}`)) return no('wrong_hashes')
      if (kept.text !== `${model}:${hashes}`) return no('wrong_model')
    }
    const signer = recoverTextSigner(kept.text, kept.signature)
    return signer.ok && signer.address.toLowerCase() === kept.signing_address
      ? { ok: true, key: kept.signing_address }
      : no('bad_signature')
  },
}

/** A kept document; undefined for one that is spelt otherwise. */
function readKept(document: string): SignatureDocument | undefined {
  try {
    const value: unknown = JSON.parse(document)
    if (nearAi.read(value) !== document) return undefined
    return value as SignatureDocument
  } catch {
    return undefined
  }
}

/** By the `scheme` of an upstream. */
export const evidenceSchemes = { 'near-ai': nearAi } as const satisfies Record<
  string,
  EvidenceScheme
>

export type EvidenceSchemeName = keyof typeof evidenceSchemes

export const evidenceSchemeNames = Object.keys(evidenceSchemes) as EvidenceSchemeName[]

/** The scheme of this name. */
export const schemeOf = (name: string): EvidenceScheme | undefined =>
  Object.hasOwn(evidenceSchemes, name) ? evidenceSchemes[name as EvidenceSchemeName] : undefined

/** One spelling of a key, to compare keys by. */
export const spellKey = (key: string): string => key.toLowerCase()
