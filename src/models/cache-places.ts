/**
 * Remembers which step of a route, and which key, has a conversation in its cache. In memory,
 * bounded, and forgotten after an hour.
 */
import { isSet, type JsonObject } from '../kernel/json-object.ts'
import { beginningOf } from './conversations.ts'
import type { RouteStep } from './model.ts'

/** How long a place is remembered, in ms. */
const keptMs = 60 * 60_000
/** Conversations that are remembered of all accounts, and of one. */
const most = 50_000
const mostOfOne = 10_000

/** The step that answered last, and its key where its upstream has several. */
export type CachePlace = { upstream: string; model: string; key: string | undefined }

type KnownPlace = CachePlace & { at: number }

/** How a request names its conversation. */
type ConversationRequest = {
  account: string
  model: string
  request: JsonObject
  /** The session that a header of the client names. */
  session?: string | null | undefined
}

export class CachePlaces {
  /** By account, so that one does not push out the conversations of others. */
  private readonly known = new Map<string, Map<bigint, KnownPlace>>()
  private count = 0

  /** @param seed of the hashes, which keeps texts with the same hash from being found */
  constructor(private readonly seed: bigint) {}

  /** The id of a conversation: as its client names it, else by what it begins with. */
  idOf({ account, model, request, session }: ConversationRequest): bigint {
    const named = [session, request['session_id'], request['prompt_cache_key']].find(
      (one) => typeof one === 'string' && one !== '',
    )
    return named === undefined || !isSet(named)
      ? beginningOf(this.seed, { account, model, request })
      : Bun.hash.wyhash(`${account}\n${model}\n${named}`, this.seed)
  }

  find(account: string, id: bigint, now: number): CachePlace | undefined {
    const place = this.known.get(account)?.get(id)
    return place && now - place.at <= keptMs ? place : undefined
  }

  note(account: string, id: bigint, { upstream, model }: RouteStep, more: NotedAt): void {
    const own = this.known.get(account) ?? new Map<bigint, KnownPlace>()
    this.forget(account, own, id)
    own.set(id, { upstream, model, ...more })
    this.count++
    // Both are in the order in which they were noted last.
    this.known.delete(account)
    this.known.set(account, own)
    if (own.size > mostOfOne) this.forgetOldest(account, own)
    for (const [oldest, theirs] of this.known) {
      if (this.count <= most) break
      while (this.count > most && theirs.size > 0) this.forgetOldest(oldest, theirs)
    }
  }

  get size(): number {
    return this.count
  }

  private forgetOldest(account: string, own: Map<bigint, KnownPlace>): void {
    const [oldest] = own.keys()
    if (oldest !== undefined) this.forget(account, own, oldest)
  }

  private forget(account: string, own: Map<bigint, KnownPlace>, id: bigint): void {
    if (!own.delete(id)) return
    this.count--
    if (own.size === 0) this.known.delete(account)
  }
}

type NotedAt = { key: string | undefined; at: number }
