/** Names the witnesses of the log: their keys, their signatures, the trouble of asking them. */
import type { CosignatureRow } from '../../storage/db/schema/schema.ts'
import { type NoteKey, signatureLine } from '../../verify/signed-note.ts'

/** A witness of the configuration. */
export type Witness = { url: string; name: string; noteKey: NoteKey }

/** Why a witness did not sign when it was asked last. */
export type WitnessTrouble =
  /** It did not answer, or not as a witness does. */
  | 'unreachable'
  /** It does not watch this log, or does not know its key. */
  | 'unknown_log'
  | 'unknown_key'
  /** It says that the head does not continue what it signed. */
  | 'contradicted'
  /** It signed a larger head than this log has: the database may be an old copy. */
  | 'ahead'
  /** It answered with a signature that does not hold. */
  | 'bad_signature'

/** The witnesses of a running service. */
export type Witnesses = {
  list: readonly Witness[]
  /** How many of them should sign a head. */
  required: number
  /** Troubles that this process met, by the name+id of their keys. */
  troubles: Map<string, WitnessTrouble>
  /** Posts text to a witness. Undefined when no answer came. */
  post: (url: string, text: string, signal: AbortSignal) => Promise<WitnessAnswer | undefined>
}

export type WitnessAnswer = { status: number; text: string }

/** The name+id under which cosignatures of a key are stored. */
export const witnessIdOf = ({ name, id }: Pick<NoteKey, 'name' | 'id'>): string =>
  `${name}+${id.toString(16).padStart(8, '0')}`

/** The line of a stored cosignature. */
export function lineOf({ witness, signature }: Pick<CosignatureRow, 'witness' | 'signature'>) {
  const at = witness.lastIndexOf('+')
  const id = Number.parseInt(witness.slice(at + 1), 16)
  return signatureLine({ name: witness.slice(0, at), id }, signature)
}

/** The name of a stored witness: as configured, or that of its key. */
export function nameOf({ list }: Pick<Witnesses, 'list'>, witness: string): string {
  const known = list.find(({ noteKey }) => witnessIdOf(noteKey) === witness)
  return known?.name ?? witness.slice(0, witness.lastIndexOf('+'))
}
