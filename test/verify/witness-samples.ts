import { fromHex } from '../../src/kernel/hex.ts'
import { noteSigner } from '../../src/proof/signer/ed25519.ts'
import { headText } from '../../src/verify/checkpoint-note.ts'
import type { Proof } from '../../src/verify/proof.ts'
import {
  cosignatureBytes,
  cosignedBytes,
  keyTypes,
  noteKey,
  noteOf,
  signatureLine,
  vkeyOf,
} from '../../src/verify/signed-note.ts'
import { tlogProofText } from '../../src/verify/tlog-proof.ts'
import { proofAt, sampleIndex, sampleLog } from './proof-samples.ts'
import { facts, fileOf } from './samples.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const signerOf = (seed: number) => noteSigner(new Uint8Array(32).fill(seed))

export const logSigner = signerOf(1)
export const logNoteKey = noteKey(facts.issuer, keyTypes.ed25519, logSigner.publicKey)

/** Three witnesses, by name, key and signature. */
export const sampleWitnesses = [2, 3, 4].map((seed) => {
  const signer = signerOf(seed)
  const key = noteKey(`w.example/${seed}`, keyTypes.cosignature, signer.publicKey)
  const line = (text: string, time = 1_790_000_002n) =>
    signatureLine(key, cosignatureBytes(time, signer.sign(cosignedBytes(text, time))))
  return { name: `W${seed}`, key, vkey: vkeyOf(key), line }
})

type Wish = {
  size?: number
  origin?: string
  index?: number
  root?: Uint8Array
  path?: Uint8Array[]
  by?: number
  lines?: (text: string) => string[]
}

/** The proof of the sample receipt under a head of `size` that so many witnesses signed. */
export function tlogOf(wish: Wish = {}): string {
  const { size = 13, origin = facts.issuer, index = sampleIndex, by = 2 } = wish
  const log = sampleLog(size)
  const root = wish.root ?? fromHex(log.checkpoint().root)
  const text = headText({ origin, size: BigInt(size), root })
  const own = signatureLine(logNoteKey, logSigner.sign(bytes(text)))
  const lines = [own, ...sampleWitnesses.slice(0, by).map(({ line }) => line(text))]
  const note = noteOf(text, wish.lines?.(text) ?? lines)
  return tlogProofText(index, wish.path ?? log.path().map(fromHex), note)
}

export const witnessedProof = (tlog = tlogOf(), size = 13): Proof => ({
  ...proofAt(size),
  version: '2',
  tlog,
})

export const witnessedFile = (tlog?: string, size?: number) => ({
  ...fileOf(),
  proof: witnessedProof(tlog, size),
})
