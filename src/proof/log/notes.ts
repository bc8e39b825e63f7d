/** Writes checkpoints as signed notes (c2sp.org/tlog-checkpoint), with what witnesses signed. */
import type { Deps } from '../../app/deps-port.ts'
import { sha256 } from '../../kernel/hash.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import { headText } from '../../verify/checkpoint-note.ts'
import { keyTypes, type NoteKey, noteKey, noteOf, signatureLine } from '../../verify/signed-note.ts'
import { type SigningDeps, signCheckpoint } from './checkpoint.ts'
import type { LogSpan } from './logs.ts'
import { lineOf } from './witnesses.ts'

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

type PublishDeps = SigningDeps & Pick<Deps, 'noteSigner' | 'cosignatures' | 'witnesses'>

/** The note of a head with all that witnesses signed of it. */
export async function cosignedNote(
  deps: Pick<Deps, 'noteSigner' | 'cosignatures'>,
  head: NotedHead,
): Promise<string> {
  const cosigned = await deps.cosignatures.at(head.issuer, head.size)
  return checkpointNote(deps, head, cosigned.map(lineOf))
}

/** The note that a log publishes. @throws Refusal `log_diverged`, `unavailable` */
export const publishedNote = async (deps: PublishDeps, log: LogSpan): Promise<string> =>
  cosignedNote(deps, await publishedHead(deps, log))

/** How far the head that witnesses signed may lie behind the newest, in ms. */
const staleMs = 300_000

/** The head to publish; that of an empty log, which has no checkpoint, has size 0. */
async function publishedHead(deps: PublishDeps, log: LogSpan): Promise<NotedHead> {
  const stored = await storedHead(deps, log)
  if (stored) return stored
  const signed = log === deps.logs.current ? await signCheckpoint(deps) : undefined
  return signed ?? { issuer: log.origin, size: 0, root: sha256(new Uint8Array()) }
}

/**
 * The newest head that enough witnesses signed, unless that is old: then the newest signed head.
 * Undefined while none was signed.
 */
export async function storedHead(
  { checkpoints, cosignatures, witnesses }: Pick<PublishDeps, StoredHeads>,
  { origin }: LogSpan,
): Promise<CheckpointRow | undefined> {
  const latest = await checkpoints.latest(origin)
  if (!latest || witnesses.list.length === 0) return latest
  const seen = await cosignatures.newestBy(origin, Math.max(1, witnesses.required))
  const head = seen === undefined ? undefined : await checkpoints.find(origin, seen)
  return head && latest.timestamp - head.timestamp <= staleMs ? head : latest
}

type StoredHeads = 'checkpoints' | 'cosignatures' | 'witnesses'
