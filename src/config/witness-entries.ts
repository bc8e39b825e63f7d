/** The witnesses of the log in the configuration: `[[witnesses]]`. */
import { keyTypes, type NoteKey, parseVkey } from '../verify/signed-note.ts'
import { readList } from './read-list.ts'
import { needed, readTable, type ValuesOf } from './setting.ts'
import { httpUrl, text } from './values.ts'

/** The fields of an entry. */
export const witnessFields = {
  url: needed(httpUrl, 'Submission prefix: heads are posted to <url>/add-checkpoint.'),
  name: needed(text('name', 'text of 1 to 200 characters', /^\P{Cc}{1,200}$/u), 'Name on pages.'),
  key: needed(
    text('key', 'a cosignature key as name+id+base64', /^\S{1,2000}$/u),
    'Cosignature key (Ed25519, type 4) as name+id+base64; `counterfoil witness` prints it.',
  ),
} as const

type Entry = ValuesOf<typeof witnessFields>

/** A witness, its key read. */
export type WitnessConfig = Omit<Entry, 'key'> & { key: string; noteKey: NoteKey }

/** `required` of them should sign each head. */
export function readWitnesses(raw: unknown, required: number, problems: string[]): WitnessConfig[] {
  const witnesses = readList('witnesses', raw, problems, (entry, where) => {
    const read = readTable(witnessFields, entry, where, problems)
    if (!read) return undefined
    const noteKey = parseVkey(read.key)
    if (noteKey?.type === keyTypes.cosignature) return { ...read, noteKey }
    problems.push(`${where}.key must be a cosignature key as name+id+base64`)
    return undefined
  })
  const keys = witnesses.map(({ noteKey }) => Buffer.from(noteKey.publicKey).toString('hex'))
  witnesses.forEach(({ name }, i) => {
    // One key under two names would count twice.
    if (keys.indexOf(keys[i] ?? '') < i)
      problems.push(`witnesses: the key of "${name}" is there twice`)
  })
  if (required > witnesses.length && Array.isArray(raw ?? [])) {
    problems.push(
      `witness_policy.required is ${required}, but [[witnesses]] names ${witnesses.length}`,
    )
  }
  return witnesses
}
