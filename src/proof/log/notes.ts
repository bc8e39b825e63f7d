/** Writes checkpoints as signed notes (c2sp.org/tlog-checkpoint), with what witnesses signed. */
import type { Deps } from '../../app/deps-port.ts'
import { sha256 } from '../../kernel/hash.ts'
import type { CheckpointRow } from '../../storage/db/schema.ts'
import { headText } from '../../verify/checkpoint-note.ts'
import { keyTypes, type NoteKey, noteKey, noteOf, signatureLine } from '../../verify/signed-note.ts'
import { signCheckpoint } from './checkpoint.ts'
import type { LogSpan } from './logs.ts'

/** The head of a log: what its note says. */
export type NotedHead = Pick<CheckpointRow, 'issuer' | 'size' | 'root'>

/** The key that signs the notes of a log; its name is the log's origin. */
export const logNoteKey = ({ noteSigner }: Pick<Deps, 'noteSigner'>, origin: string): NoteKey =>
  noteKey(origin, keyTypes.ed25519, noteSigner.publicKey)

/** The text that the log and its witnesses sign. */
export const noteText = ({ issuer, size, root }: NotedHead): string =>
  headText({ origin: issuer, size: BigInt(size), root })

/** The note of a head, signed by the log; `cosigned` are lines of witnesses. */
export function checkpointNote(
  deps: Pick<Deps, 'noteSigner'>,
  head: NotedHead,
  cosigned: readonly string[] = [],
): string {
  const text = noteText(head)
  const signature = deps.noteSigner.sign(new TextEncoder().encode(text))
  return noteOf(text, [signatureLine(logNoteKey(deps, head.issuer), signature), ...cosigned])
}

/** The note that a log publishes. @throws Refusal `log_diverged`, `unavailable` */
export async function publishedNote(deps: Deps, log: LogSpan): Promise<string> {
  const head = await publishedHead(deps, log)
  return checkpointNote(deps, head)
}

/** The newest signed head; that of an empty log, which has no checkpoint, has size 0. */
async function publishedHead(deps: Deps, log: LogSpan): Promise<NotedHead> {
  const latest = await deps.checkpoints.latest(log.origin)
  if (latest) return latest
  const signed = log === deps.logs.current ? await signCheckpoint(deps) : undefined
  return signed ?? { issuer: log.origin, size: 0, root: sha256(new Uint8Array()) }
}
