/** Asks witnesses to sign the newest head of the log, in the background. */
import type { Deps } from '../../app/deps-port.ts'
import { fromHex } from '../../kernel/hex.ts'
import type { CheckpointRow, CosignatureRow } from '../../storage/db/schema/schema.ts'
import { toBase64 } from '../../verify/base64.ts'
import { parseSize } from '../../verify/checkpoint-note.ts'
import { isLineOf, parseLines, verifyLine } from '../../verify/signed-note.ts'
import { isUnprovable } from './damage.ts'
import { checkpointNote, noteText } from './notes.ts'
import { consistencyOf } from './proof.ts'
import { type Witness, type WitnessTrouble, witnessIdOf } from './witnesses.ts'

export type WitnessClientDeps = Pick<
  Deps,
  | 'witnesses'
  | 'cosignatures'
  | 'checkpoints'
  | 'logs'
  | 'logStore'
  | 'health'
  | 'noteSigner'
  | 'clock'
  | 'log'
>

/** Least time between two heads that all are asked about, in ms. */
const roundMs = 5000
/** The first pause after a failure, in ms; it doubles with each further one up to the last. */
const pauseMs = { first: 5000, last: 600_000 }

/** The memory of a witness: the size that it signed last, and when to ask it again. */
type WitnessProgress = { known: number | undefined; failures: number; nextAt: number }

/**
 * A job that asks every witness about one and the same head, so that several signatures meet on
 * it; a witness that fails is asked again after a while, about what is newest then.
 */
export function witnessClient(deps: WitnessClientDeps): (ending: AbortSignal) => Promise<void> {
  const standings = new Map<string, WitnessProgress>()
  let roundAt = Number.NEGATIVE_INFINITY

  const standingOf = (witness: Witness): WitnessProgress => {
    const id = witnessIdOf(witness.noteKey)
    const found = standings.get(id) ?? { known: undefined, failures: 0, nextAt: 0 }
    standings.set(id, found)
    return found
  }

  return async (ending) => {
    const { witnesses, checkpoints, logs, clock } = deps
    const now = clock.monotonic()
    if (witnesses.list.length === 0 || now - roundAt < roundMs) return
    const head = await checkpoints.latest(logs.current.origin)
    if (!head) return
    const due = witnesses.list.filter((witness) => {
      const { known, failures, nextAt } = standingOf(witness)
      return failures > 0 ? nextAt <= now : known !== head.size
    })
    if (due.length === 0 || !(await deps.cosignatures.takeLease())) return
    roundAt = now
    await Promise.all(
      due.map(async (witness) => {
        const standing = standingOf(witness)
        const trouble = await ask(deps, witness, standing, head, ending)
        note(deps, witness, standing, trouble)
      }),
    )
  }
}

/** Remembers how it went; tells a change once. */
function note(
  { witnesses, clock, log }: WitnessClientDeps,
  { name, noteKey }: Witness,
  standing: WitnessProgress,
  trouble: WitnessTrouble | undefined,
): void {
  const id = witnessIdOf(noteKey)
  const before = witnesses.troubles.get(id)
  if (trouble === undefined) {
    witnesses.troubles.delete(id)
    standing.failures = 0
    if (before) log.info('witness.signs_again', { witness: name })
    return
  }
  const pause = pauseMs.first * 2 ** standing.failures
  standing.nextAt = clock.monotonic() + Math.min(pause, pauseMs.last)
  standing.failures++
  witnesses.troubles.set(id, trouble)
  if (before !== trouble) log.warn('witness.refuses', { witness: name, trouble })
}

/** Asks one witness about a head and keeps its signature, or tells why there is none. */
async function ask(
  deps: WitnessClientDeps,
  witness: Witness,
  standing: WitnessProgress,
  head: CheckpointRow,
  ending: AbortSignal,
): Promise<WitnessTrouble | undefined> {
  const id = witnessIdOf(witness.noteKey)
  standing.known ??= (await deps.cosignatures.newestOf(head.issuer, id))?.size ?? 0
  // The second time with the size that the witness named.
  for (let turn = 0; turn < 2; turn++) {
    const old: number = standing.known
    if (old > head.size) return 'ahead'
    const body = await submissionOf(deps, old, head).catch((error: unknown) => {
      if (!isUnprovable(error)) throw error
      return undefined
    })
    // A damaged leaf is in the way of the proof, which the witness would refuse.
    if (body === undefined) return 'contradicted'
    const answer = await deps.witnesses.post(`${witness.url}/add-checkpoint`, body, ending)
    if (!answer) return 'unreachable'
    if (answer.status === 200) return keep(deps, witness, standing, head, answer.text)
    if (answer.status !== 409) return troubleOf(answer.status)
    const size = parseSize(answer.text.replace(/\n$/, ''))
    if (size === undefined || size > BigInt(Number.MAX_SAFE_INTEGER)) return 'unreachable'
    // It signed this size already, under another root.
    if (Number(size) === old && old === head.size) return 'contradicted'
    standing.known = Number(size)
  }
  return standing.known > head.size ? 'ahead' : 'unreachable'
}

async function submissionOf(
  deps: WitnessClientDeps,
  old: number,
  head: CheckpointRow,
): Promise<string> {
  const proof = old > 0 && old < head.size ? await consistencyOf(deps, old, head.size) : undefined
  const lines = (proof?.path ?? []).map((hash) => `${toBase64(fromHex(hash))}\n`)
  return `old ${old}\n${lines.join('')}\n${checkpointNote(deps, head)}`
}

const troubles = new Map<number, WitnessTrouble>([
  [403, 'unknown_key'],
  [404, 'unknown_log'],
  [422, 'contradicted'],
])

const troubleOf = (status: number): WitnessTrouble => troubles.get(status) ?? 'unreachable'

/** Stores the line of the witness's key if it holds; lines of other keys are ignored. */
async function keep(
  { cosignatures }: WitnessClientDeps,
  { noteKey }: Witness,
  standing: WitnessProgress,
  head: CheckpointRow,
  text: string,
): Promise<WitnessTrouble | undefined> {
  const line = parseLines(text)?.find((one) => isLineOf(one, noteKey))
  const signed = line && verifyLine(noteText(head), line, noteKey)
  if (!line || signed?.time === undefined) return 'bad_signature'
  const { issuer, size } = head
  const row: CosignatureRow = {
    issuer,
    witness: witnessIdOf(noteKey),
    size,
    time: Number(signed.time) * 1000,
    signature: line.bytes,
  }
  await cosignatures.add([row])
  standing.known = size
  return undefined
}
