import {
  append,
  consistencyRanges,
  emptyFrontier,
  type HashAt,
  hashIn,
  hashOf,
  homeOf,
  peaksOf,
  rootOf,
} from '../../../src/proof/log/tree.ts'
import { noteSigner } from '../../../src/proof/signer/ed25519.ts'
import { toBase64 } from '../../../src/verify/base64.ts'
import { headText } from '../../../src/verify/checkpoint-note.ts'
import { leafKinds } from '../../../src/verify/merkle.ts'
import {
  keyTypes,
  noteKey,
  noteOf,
  signatureLine,
  vkeyOf,
} from '../../../src/verify/signed-note.ts'

/** A log of so many leaves in memory; another `story` has other leaves from `parting` on. */
export function paperLog(origin: string, { story = 0, parting = 0, seed = 1, size = 64 } = {}) {
  const leaves = Array.from({ length: size }, (_, i) => ({
    kind: leafKinds.receipt,
    digest: new Uint8Array(32).fill(i < parting ? 1 + i : 1 + i + story * 100),
  }))
  const { stored } = append(emptyFrontier, leaves)
  const hashAt: HashAt = (place) => {
    const leaf = stored[homeOf(place)]
    if (!leaf) throw new Error('no such leaf')
    return hashIn(leaf, place)
  }
  const signer = noteSigner(new Uint8Array(32).fill(seed))
  const key = noteKey(origin, keyTypes.ed25519, signer.publicKey)
  const rootAt = (at: number) =>
    at === 0 ? rootOf(emptyFrontier) : hashOf({ from: 0, to: at }, hashAt)
  const path = (from: number, to: number) =>
    from === 0 || from === to
      ? []
      : consistencyRanges(from, to).map((range) => {
          if (peaksOf(range).length === 0) throw new Error('empty')
          return toBase64(hashOf(range, hashAt))
        })
  const note = (at: number, root = rootAt(at)) => {
    const text = headText({ origin, size: BigInt(at), root })
    return noteOf(text, [signatureLine(key, signer.sign(new TextEncoder().encode(text)))])
  }
  return {
    origin,
    key,
    vkey: vkeyOf(key),
    rootAt,
    note,
    path,
    /** The body of `add-checkpoint`. */
    body: (old: number, to: number, lines = path(old, to)) =>
      `old ${old}\n${lines.map((line) => `${line}\n`).join('')}\n${note(to)}`,
  }
}

export type PaperLog = ReturnType<typeof paperLog>
