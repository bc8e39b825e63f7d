/** Seals the parts of a response that a next turn can name. */
import type { Json } from '../../kernel/canonical.ts'
import { isObject, type JsonObject } from '../../kernel/json-object.ts'
import type { KeptItemRow } from '../db/schema/schema.ts'
import type { Sealer } from '../idempotency/call.ts'

/** The most bytes of an answer that is kept; the same holds for the input of its turn. */
export const keptMax = 1024 * 1024

/** Ids in one answer; an answer with more items is not kept. */
const idsMax = 256

/** The longest id that is kept, in UTF-16 units. */
const idMax = 256

/** Bytes of a row beside its JSON; they bound how many rows an account can have. */
const rowBytes = 256

/** A turn of a conversation: a response, and what it was asked. */
export type Turn = {
  /** The runs of the turns before it, from the first on. */
  before: readonly string[]
  /**
   * The input items as received. A reference has the member `run`: the run whose item it names.
   * Null if they were too long to keep.
   */
  input: readonly Json[] | null
  /** The ids of its items; an item without an id of its own stands here itself. */
  output: readonly Json[]
}

/** The owner of rows, and the end of their time. */
export type Owner = Pick<KeptItemRow, 'accountId' | 'runId' | 'keys' | 'until'>

/** An answer with its input. */
export type KeptAnswer = {
  /** Id of the response. */
  id: string
  output: readonly Json[]
  before: readonly string[]
  input: readonly Json[]
}

type Row = Pick<KeptItemRow, 'accountId' | 'id' | 'runId'>

const placeOf = ({ accountId, id, runId }: Row): string => `kept ${accountId} ${runId} ${id}`

const isNameable = (id: Json | undefined): id is string =>
  typeof id === 'string' && id !== '' && id.length <= idMax

/** The rows of an answer; none if it is too long, or cannot be named. */
export function sealTurn(
  sealer: Pick<Sealer, 'seal'>,
  owner: Owner,
  { id, output, before, input }: KeptAnswer,
): KeptItemRow[] {
  if (!isNameable(id) || output.length > idsMax) return []
  const texts = new Map<string, string>()
  const listed: Json[] = []
  let bytes = 0
  for (const item of output) {
    const own = isObject(item) ? item['id'] : undefined
    const text = JSON.stringify(item)
    bytes += Buffer.byteLength(text)
    if (bytes > keptMax) return []
    if (isNameable(own) && own !== id && !texts.has(own)) {
      texts.set(own, text)
      listed.push(own)
    } else listed.push(item)
  }
  const asked = JSON.stringify(input)
  const isWhole = asked.length <= keptMax && Buffer.byteLength(asked) <= keptMax
  const rest = JSON.stringify({ before, output: listed } satisfies Omit<Turn, 'input'>)
  texts.set(id, `{"input":${isWhole ? asked : null},${rest.slice(1)}`)
  return [...texts].map(([name, text]) => {
    const row = { ...owner, id: name }
    const sealed = sealer.seal(text, placeOf(row))
    return { ...row, sealed, bytes: Buffer.byteLength(text) + rowBytes }
  })
}

/** The JSON of a row; undefined if it was sealed under another key. */
export function openKept(
  sealer: Pick<Sealer, 'open'>,
  row: Pick<KeptItemRow, 'accountId' | 'id' | 'runId' | 'sealed'>,
): JsonObject | undefined {
  const text = sealer.open(row.sealed, placeOf(row))
  return text === undefined ? undefined : JSON.parse(text)
}
