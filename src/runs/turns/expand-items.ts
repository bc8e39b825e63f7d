/**
 * Puts what a request names by id in its place: items of kept responses, and the conversation that
 * `previous_response_id` goes on with. Everything after it reads a request that is whole.
 */
import type { Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import type { Millis } from '../../kernel/clock.ts'
import { isObject, isSet, type JsonObject } from '../../kernel/json-object.ts'
import { refuse, refuseField } from '../../kernel/refusal.ts'
import { toCount } from '../../kernel/status-safe.ts'
import { quoted, textOf } from '../../models/protocols/reading.ts'
import { isReasoningReference } from '../../models/protocols/responses/unstored.ts'
import { isKeeping, keptMs } from '../../storage/responses/keeping.ts'
import { openKept, type Turn } from '../../storage/responses/kept.ts'
import type { KeptMark } from '../../storage/responses/store.ts'

type ExpandDeps = Pick<Deps, 'keptItems' | 'sealer' | 'settings' | 'clock' | 'texts'>

/** A request with everything that it named. */
export type ExpandedRequest = {
  /** The request as the model reads it: without references. */
  body: JsonObject
  /** The new input alone, its references with the runs of their items, as a turn keeps it. */
  input: readonly Json[]
  /** The runs of the turns before it, from the first on. */
  before: readonly string[]
}

/** Turns of one conversation that goes on by `previous_response_id`. */
export const turnsMax = 256

/**
 * @throws Refusal `not_found` for what is not kept, the same for another account's as for none;
 * `invalid_request`, or `payload_too_large` where the whole is larger than a body may be
 */
export async function expandItems(
  deps: ExpandDeps,
  caller: Caller,
  received: JsonObject,
): Promise<ExpandedRequest> {
  const { previous_response_id: previous, ...rest } = received
  const own = itemsOf(received['input'])
  const ids = referencesIn(own).map(({ id }) => textOf(id))
  if (!isSet(previous) && ids.length === 0) return { body: received, input: own, before: [] }
  if (isSet(previous) && typeof previous !== 'string') {
    refuseField('previous_response_id', 'Send previous_response_id as text.')
  }
  if (isSet(previous) && isSet(received['conversation'])) {
    refuseField('previous_response_id', 'Send either previous_response_id or conversation.')
  }
  const expansion = new Expansion(deps, caller, await isKeeping(deps, caller.account))
  const before = isSet(previous) ? await expansion.before(previous) : []
  const input = await expansion.marked(own)
  const whole = await expansion.whole(before, input)
  await expansion.putOff()
  return { body: { ...rest, input: whole }, input, before }
}

/** Items as a list; a text is the user's message. Anything else is left to the reader behind. */
const itemsOf = (input: Json | undefined): readonly Json[] => {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input : []
}

const isReference = (item: Json): item is JsonObject =>
  isObject(item) && item['type'] === 'item_reference'

const referencesIn = (items: readonly Json[]): JsonObject[] => items.filter(isReference)

/** Finds the things that one request names. */
class Expansion {
  private readonly marks = new Map<string, KeptMark>()
  private readonly opened = new Map<string, JsonObject>()
  private bytes = 0

  constructor(
    private readonly deps: ExpandDeps,
    private readonly caller: Caller,
    private readonly isOn: boolean,
  ) {}

  /** The runs up to a response, itself included. */
  async before(previous: string): Promise<string[]> {
    const last = (await this.newest([previous])).get(previous)
    const turn = last && (await this.open([last])).get(keyOf(last))
    if (!last || !turn || !isTurn(turn)) return this.refuseResponse(previous)
    const before = [...turn.before, last.runId]
    if (before.length <= turnsMax) return before
    return refuse('invalid_request', {
      param: 'previous_response_id',
      message:
        `A conversation goes on for at most ${turnsMax} turns by previous_response_id. ` +
        'Send its items as "input".',
    })
  }

  /** The items with the runs whose items they name; reasoning that is not kept stays as it is. */
  async marked(items: readonly Json[]): Promise<Json[]> {
    const ids = referencesIn(items).map(({ id }) => textOf(id))
    const found = await this.newest(ids)
    return items.map((item, index): Json => {
      if (!isReference(item)) return item
      const id = textOf(item['id'])
      const mark = found.get(id)
      if (mark) return { type: 'item_reference', id, run: mark.runId }
      if (isReasoningReference(item)) return { type: 'item_reference', id }
      return this.refuseItem(id, `input[${index}].id`)
    })
  }

  /** The conversation: the turns before, then the new input. */
  async whole(before: readonly string[], input: readonly Json[]): Promise<Json[]> {
    const { account } = this.caller
    const ofTurns = await this.deps.keptItems.findRuns(account, before)
    this.note(ofTurns)
    await this.open(ofTurns)
    const turns = before.map((runId) => {
      const own = ofTurns.filter((mark) => mark.runId === runId)
      for (const mark of own) {
        const turn = this.opened.get(keyOf(mark))
        if (turn && isTurn(turn)) return { runId, turn, turnBytes: mark.bytes }
      }
      return { runId, turn: undefined, turnBytes: 0 }
    })
    const asked = turns.flatMap(({ turn }) => turn?.input ?? [])
    await this.openNamed([...asked, ...input])
    const all: Json[] = []
    for (const { runId, turn, turnBytes } of turns) {
      if (!turn) return this.refuseTurn('is not kept any more')
      if (turn.input === null) return this.refuseTurn('was too long to be kept')
      this.count(turnBytes)
      for (const item of turn.input) this.add(all, item, 'previous_response_id')
      for (const item of turn.output) {
        const named =
          typeof item === 'string' ? { type: 'item_reference', id: item, run: runId } : item
        this.add(all, named, 'previous_response_id')
      }
    }
    for (const [index, item] of input.entries()) this.add(all, item, `input[${index}].id`)
    return all
  }

  /** Keeps what is used for as long again, once half of its time is over. */
  async putOff(): Promise<void> {
    const { clock, settings, keptItems } = this.deps
    const until: Millis = clock.now() + keptMs(settings)
    const due = [...this.marks.values()].filter((mark) => mark.until < until - keptMs(settings) / 2)
    if (due.length === 0) return
    const runIds = [...new Set(due.map(({ runId }) => runId))]
    await keptItems.putOff(this.caller.account, runIds, until)
  }

  private add(all: Json[], item: Json, param: string): void {
    if (!isReference(item)) {
      all.push(item)
      return
    }
    const id = textOf(item['id'])
    const runId = textOf(item['run'])
    // Reasoning that was not kept then has no effect, and the answer says so.
    if (runId === '') {
      all.push(item)
      return
    }
    const key = keyOf({ id, runId })
    const found = this.opened.get(key)
    if (!found || isTurn(found)) this.refuseItem(id, param)
    this.count(this.marks.get(key)?.bytes ?? 0)
    all.push(found)
  }

  /** Counts what goes into the request, each time that it does. */
  private count(bytes: number): void {
    this.bytes += bytes
    const { bodyBytes } = this.deps.settings
    if (this.bytes <= bodyBytes) return
    refuse('payload_too_large', {
      message:
        `What this request names is larger than a request may be (${toCount(bodyBytes)} bytes). ` +
        'Send less of the conversation.',
    })
  }

  /** The newest row of each id that this key may see. */
  private async newest(ids: readonly string[]): Promise<Map<string, KeptMark>> {
    const found = new Map<string, KeptMark>()
    const wanted = [...new Set(ids)].filter((id) => id !== '')
    if (!this.isOn || wanted.length === 0) return found
    const { account, key } = this.caller
    for (const mark of await this.deps.keptItems.find(account, wanted)) {
      if (!mark.keys.includes(key.id)) continue
      const known = found.get(mark.id)
      if (!known || known.runId < mark.runId) found.set(mark.id, mark)
    }
    this.note([...found.values()])
    return found
  }

  private note(marks: readonly KeptMark[]): void {
    for (const mark of marks) this.marks.set(keyOf(mark), mark)
  }

  private async openNamed(items: readonly Json[]): Promise<void> {
    const named = referencesIn(items)
      .map(({ id, run }) => ({ id: textOf(id), runId: textOf(run) }))
      .filter((one) => one.runId !== '' && !this.opened.has(keyOf(one)))
    const strange = named.filter((one) => !this.marks.has(keyOf(one)))
    if (strange.length > 0) {
      const runIds = [...new Set(strange.map(({ runId }) => runId))]
      const wanted = new Set(strange.map(keyOf))
      const found = await this.deps.keptItems.findRuns(this.caller.account, runIds)
      this.note(found.filter((mark) => wanted.has(keyOf(mark))))
    }
    await this.open(named)
  }

  /** Reads and opens rows that are noted; what was sealed under another key is left out. */
  private async open(
    named: readonly Pick<KeptMark, 'id' | 'runId'>[],
  ): Promise<Map<string, JsonObject>> {
    const missing = named.filter((one) => {
      const key = keyOf(one)
      return this.marks.has(key) && !this.opened.has(key)
    })
    let bytes = 0
    for (const one of missing) bytes += this.marks.get(keyOf(one))?.bytes ?? 0
    if (bytes > this.deps.settings.bodyBytes) this.count(bytes)
    if (missing.length > 0) {
      for (const row of await this.deps.keptItems.read(this.caller.account, missing)) {
        const value = openKept(this.deps.sealer, row)
        if (value) this.opened.set(keyOf(row), value)
      }
    }
    return this.opened
  }

  private refuseItem(id: string, param: string): never {
    refuse('not_found', {
      param,
      message:
        `Item ${quoted(id)} is not kept here${this.why()}: set "store": false, ` +
        'so that your client sends it whole.',
    })
  }

  private refuseResponse(id: string): never {
    refuse('not_found', {
      param: 'previous_response_id',
      message:
        `Response ${quoted(id)} is not kept here${this.why()}: send the items of the ` +
        'conversation as "input".',
    })
  }

  private refuseTurn(why: string): never {
    refuse('not_found', {
      param: 'previous_response_id',
      message: `A turn of this conversation ${why}: send its items as "input".`,
    })
  }

  private why(): string {
    const { settings } = this.deps
    if (settings.keepResponsesHours === 0) return ', because this service keeps no responses'
    return this.isOn ? '' : ', because this account keeps nothing'
  }
}

const keyOf = ({ id, runId }: Pick<KeptMark, 'id' | 'runId'>): string => `${runId} ${id}`

/** A turn has no type; every item has one. */
const isTurn = (value: object): value is Turn & JsonObject => 'before' in value && 'output' in value
