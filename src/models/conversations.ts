/**
 * Keeps the reports of conversations: the tokens of their last turn, and how much of what
 * it could read from a cache it did. In memory, bounded, and forgotten as caches forget.
 */
import type { Json } from '../kernel/canonical.ts'
import { isObject, isSet, type JsonObject } from '../kernel/json-object.ts'
import type { KnownPrefix } from './usage.ts'

/** A turn as it was asked: whose, of what, in the form that was sent. */
export type Turn = {
  account: string
  /** The model, and the server that answers: each has a cache of its own. */
  model: string
  route: string
  request: JsonObject
  /** UTF-8 bytes of its text, and the tokens that its media count. */
  bytes: number
  media: number
  /** Its hashes, where they were made before. */
  chain?: Chain | undefined
}

/** Hashes of a conversation, message by message. Its key ends with what its user said first. */
export type Chain = { key: bigint; marks: BigUint64Array; ends: Float64Array }

type PromptCount = { tokens: number; cached: number }

/** The last reported turn of a conversation. */
type ReportedTurn = PromptCount & {
  /** A hash for each message, over all before it, and where it ends in characters of text. */
  marks: BigUint64Array
  ends: Float64Array
  bytes: number
  media: number
  /** How much of what an earlier turn had sent was read from the cache: 0 to 1. */
  share: number
  /** The time of the turn in milliseconds of a clock that does not jump. */
  at: number
}

/** Caches keep what was not read again for five to ten minutes. */
const keptMs = 10 * 60_000
/** Messages that are remembered of all conversations, and of one. */
const mostMarks = 200_000
const mostOfOne = 2000

export class Conversations {
  private readonly known = new Map<bigint, ReportedTurn>()
  private marks = 0

  /** @param seed of its hashes, which keeps texts with the same hash from being found */
  constructor(private readonly seed: bigint) {}

  /** Notes what was reported of a turn, at a time of a clock that does not jump. */
  note(turn: Turn, { tokens, cached }: PromptCount, at: number): void {
    const chain = this.chainOf(turn)
    if (!chain) return
    const { key, marks, ends } = chain
    const before = this.find(key, at)
    const readable = before ? tokensBefore(before, sameIn(before, marks)) : 0
    const share = Math.min(1, cached / (readable > 0 ? Math.min(readable, tokens) : tokens))
    this.forget(key)
    const { bytes, media } = turn
    this.known.set(key, { tokens, cached, marks, ends, bytes, media, share, at })
    this.marks += marks.length
    for (const oldest of this.known.keys()) {
      if (this.marks <= mostMarks) break
      this.forget(oldest)
    }
  }

  /** Returns the known beginning of a turn; undefined when there is none. */
  prefixOf(turn: Turn, now: number): KnownPrefix | undefined {
    const chain = this.chainOf(turn)
    const before = chain && this.find(chain.key, now)
    if (!before) return undefined
    const same = sameIn(before, chain.marks)
    if (same === 0) return undefined
    const { tokens, bytes, media, marks, share } = before
    const isWhole = same === marks.length
    const all = chain.ends.at(-1) ?? 0
    return {
      whole: isWhole ? { tokens, bytes, media } : undefined,
      cached: Math.floor(tokensBefore(before, same) * share),
      share: all > 0 ? (chain.ends[same - 1] ?? 0) / all : 0,
    }
  }

  private find(key: bigint, now: number): ReportedTurn | undefined {
    const found = this.known.get(key)
    if (!found || now - found.at <= keptMs) return found
    this.forget(key)
    return undefined
  }

  private forget(key: bigint): void {
    this.marks -= this.known.get(key)?.marks.length ?? 0
    this.known.delete(key)
  }

  /** Undefined for a conversation that is not followed. */
  chainOf({ account, model, route, request, chain }: Turn): Chain | undefined {
    if (chain) return chain
    const said = request['messages'] ?? request['input']
    const messages = Array.isArray(said) ? said : [said ?? null]
    if (messages.length > mostOfOne || isSet(request['previous_response_id'])) return undefined
    const text = new TextHash(this.seed)
    text.add(`${account} ${model} ${route}`)
    for (const name of before) if (isSet(request[name])) text.addValue(request[name])
    const marks = new BigUint64Array(messages.length)
    const ends = new Float64Array(messages.length)
    let key: bigint | undefined
    for (const [at, message] of messages.entries()) {
      text.addValue(message)
      marks[at] = text.hash
      ends[at] = text.length
      if (key === undefined && isOfUser(message)) key = text.hash
    }
    return { key: key ?? text.hash, marks, ends }
  }
}

/** A hash of what a conversation begins with: all up to what its user said first. */
export function beginningOf(
  seed: bigint,
  { account, model, request }: Pick<Turn, 'account' | 'model' | 'request'>,
): bigint {
  const text = new TextHash(seed)
  text.add(`${account} ${model}`)
  for (const name of before) if (isSet(request[name])) text.addValue(request[name])
  const said = request['messages'] ?? request['input'] ?? null
  for (const message of Array.isArray(said) ? said : [said]) {
    text.addValue(message)
    if (isOfUser(message)) break
  }
  return text.hash
}

/** Members that servers put before the messages. */
const before = [
  ...['tools', 'functions', 'response_format', 'text', 'output_config'],
  ...['system', 'instructions', 'thinking'],
]

const isOfUser = (message: Json): boolean => !isObject(message) || message['role'] === 'user'

/** Hashes values as they stand, without a copy of their text. */
class TextHash {
  length = 0

  constructor(public hash: bigint) {}

  add(text: string): void {
    this.hash = Bun.hash.wyhash(text, this.hash)
    this.length += text.length
  }

  /** Breakpoints are left out: they move from turn to turn, and are not read by the model. */
  addValue(value: Json | undefined): void {
    if (typeof value === 'string') this.add(value)
    else if (Array.isArray(value)) {
      this.add('[')
      for (const item of value) this.addValue(item)
      this.add(']')
    } else if (isObject(value)) {
      this.add('{')
      for (const name in value) {
        if (name === 'cache_control') continue
        const member = value[name]
        // A role and what it says stand in this order in nearly every message.
        if (name !== 'role' && name !== 'content') this.add(name)
        this.addValue(member)
      }
      this.add('}')
    } else this.add(String(value))
  }
}

/** How many messages both begin with. */
function sameIn({ marks }: ReportedTurn, others: BigUint64Array): number {
  let same = 0
  while (same < marks.length && same < others.length && marks[same] === others[same]) same++
  return same
}

/** The tokens of so many messages of a turn: all of them, or their part by its characters. */
function tokensBefore({ tokens, marks, ends }: ReportedTurn, same: number): number {
  if (same === marks.length) return tokens
  return Math.floor((tokens * (ends[same - 1] ?? 0)) / (ends.at(-1) || 1))
}
