/** Says which slot an account belongs to, and which shard has a slot. */
import { sha256 } from './hash.ts'
import { Refusal, refuse } from './refusal.ts'

/** Accounts are spread over this many slots, and slots over shards. */
export const slotCount = 1024

/** This shard and the others, as the file of all shards says. */
export type Shard = {
  /** Two characters, which begin all ids made here. */
  id: string
  /** All of them, this one too, in the order of the file. */
  all: readonly ShardEntry[]
  /** The id of the shard that has a slot, 0 to 1023. */
  of(slot: number): string
  /** Whether a slot is on its way to or from this shard: neither serves it for a moment. */
  isMoving(slot: number): boolean
  /** The shard that a slot moved to from here; undefined for all others. */
  wentTo(slot: number): string | undefined
  /**
   * Takes on what the database knows of slots that moved; the file says the others. True if that
   * is new.
   */
  learn(moved: readonly MovedSlot[]): boolean
  /** Takes on what the database says of one slot. */
  note(moved: MovedSlot): void
}

/** A slot that moved, or moves now, as the database of this shard has it. */
export type MovedSlot = { slot: number; shard: string; isMoving: boolean }

/** One shard of the file. */
export type ShardEntry = {
  id: string
  /** Rising, each 0 to 1023. */
  slots: readonly number[]
  /** The URL of its nodes, for commands that read all shards; undefined if none is named. */
  url: string | undefined
}

/** The digits of ids and of slots. */
export const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * A letter, then a letter or a digit, of the alphabet of ids. Ids of a database without shards
 * begin with `0` until the year 3084, and origins of reopened logs end in a number.
 */
export const isShardId = (text: string): boolean => /^[a-hjkmnp-tv-z][0-9a-hjkmnp-tv-z]$/.test(text)

/** A shard among all, whose file was checked before: each slot has one. */
export function shardAmong(id: string, all: readonly ShardEntry[]): Shard {
  const owners: string[] = []
  for (const shard of all) for (const slot of shard.slots) owners[slot] = shard.id
  let known = new Map<number, MovedSlot>()
  return {
    id,
    all,
    of: (slot) => known.get(slot)?.shard ?? owners[slot] ?? id,
    isMoving: (slot) => known.get(slot)?.isMoving === true,
    wentTo: (slot) => {
      const one = known.get(slot)
      return one && !one.isMoving && one.shard !== id ? one.shard : undefined
    },
    learn: (moved) => {
      const isSame = ({ slot, shard, isMoving }: MovedSlot): boolean => {
        const one = known.get(slot)
        return one?.shard === shard && one.isMoving === isMoving
      }
      const isNew = moved.length !== known.size || !moved.every(isSame)
      known = new Map(moved.map((one) => [one.slot, one]))
      return isNew
    },
    note: (moved) => void known.set(moved.slot, moved),
  }
}

/** The slot of an account: the first ten bits of SHA-256 of its address in lower case, as text. */
export function slotOf(account: string): number {
  const [first = 0, second = 0] = sha256(account.toLowerCase())
  return (first << 2) | (second >> 6)
}

/** The two characters of a slot, in the alphabet of ids. */
export const markOf = (slot: number): string =>
  alphabet.charAt(slot >> 5) + alphabet.charAt(slot & 31)

/** The slot of two characters; undefined for others. */
export function slotOfMark(mark: string): number | undefined {
  const [high, low] = [alphabet.indexOf(mark.charAt(0)), alphabet.indexOf(mark.charAt(1))]
  return mark.length === 2 && high >= 0 && low >= 0 ? high * 32 + low : undefined
}

/** The prefix of secrets and sessions of an account; empty without shards. */
export const accountMark = (shard: Shard | undefined, account: string): string =>
  shard ? markOf(slotOf(account)) : ''

/** The shard of an account, if it is another one than this. */
export const elsewhere = (shard: Shard | undefined, account: string): string | undefined =>
  shard && otherThan(shard, shard.of(slotOf(account)))

/**
 * Refuses a key for the runs of before its slot moved: they stay here, its keys do not. The shard
 * that has the keys sends a client here, and must not get it back.
 * @throws Refusal `not_found`
 */
export function refusePast(
  shard: Shard | undefined,
  mark: string,
  { method, url }: { method: string; url: string },
): void {
  const slot = slotOfMark(mark)
  const to = slot === undefined ? undefined : shard?.wentTo(slot)
  if (!shard || to === undefined || method !== 'GET') return
  if (!url.split(/[/?&=#]/).some((part) => makerOf(part) === shard.id)) return
  refuse('not_found', {
    message:
      `This account moved to the shard ${to}. What it ran before stays in the log of the shard ` +
      `${shard.id}: shared receipts can be read here without a key, others by the operator.`,
  })
}

/**
 * Refuses what begins with the mark of a slot that this shard does not serve now.
 * @throws Refusal `misdirected_request` for a slot of another shard, `unavailable` while it moves
 */
export function assertMarkHere(shard: Shard | undefined, mark: string): void {
  const slot = shard && slotOfMark(mark)
  if (slot !== undefined) assertSlotHere(shard, slot)
}

/** The other shard of an id of a shard, such as the one that an operator token begins with. */
export const elsewhereByShard = (shard: Shard | undefined, id: string): string | undefined =>
  shard?.all.some((one) => one.id === id) ? otherThan(shard, id) : undefined

/** The other shard that made an id; undefined where none did. */
export function elsewhereById(shard: Shard | undefined, id: unknown): string | undefined {
  if (!shard || typeof id !== 'string') return undefined
  return elsewhereByShard(shard, makerOf(id))
}

/** The shard that made an id; empty for other texts. */
const makerOf = (id: string): string =>
  /^[a-z]{3,4}_([a-z][0-9a-z])[0-9a-z]{24}$/.exec(id)?.[1] ?? ''

/** The other shard that made an id in a path or a query. */
export function elsewhereInPath(shard: Shard | undefined, path: string): string | undefined {
  if (!shard) return undefined
  for (const part of path.split(/[/?&=#]/)) {
    const found = elsewhereById(shard, part)
    if (found !== undefined) return found
  }
  return undefined
}

const otherThan = (shard: Shard | undefined, id: string | undefined): string | undefined =>
  id === shard?.id ? undefined : id

/** The member by which a list names its shard; absent without shards. */
export const ownShard = (shard: Shard | undefined): { shard?: string } =>
  shard ? { shard: shard.id } : {}

/** Names the shard of a request that reached another one. */
export const shardHeader = 'x-counterfoil-shard'

/**
 * Sends a request on to the shard that can answer it.
 * @throws Refusal `misdirected_request` with the header `X-Counterfoil-Shard`
 */
export const refuseElsewhere = (shard: string): never =>
  refuse('misdirected_request', elsewhereDetail(shard))

export const elsewhereDetail = (shard: string): Refusal['detail'] => ({
  message:
    `This belongs to the shard ${shard}, and nothing was done here. Send the request again with ` +
    `the header X-Counterfoil-Shard: ${shard}, or to a node of that shard.`,
  metadata: { shard },
  headers: { [shardHeader]: shard },
})

/** @throws Refusal `misdirected_request` for an account of another shard, `unavailable` */
export function assertHere(shard: Shard | undefined, account: string): void {
  assertSlotHere(shard, slotOf(account))
}

function assertSlotHere(shard: Shard | undefined, slot: number): void {
  if (shard?.isMoving(slot)) throw slotMoving()
  const other = shard && otherThan(shard, shard.of(slot))
  if (other !== undefined) refuseElsewhere(other)
}

/** Whether an error is that of {@link slotMoving}. */
export const isSlotMoving = (error: unknown): boolean =>
  error instanceof Refusal && error.detail.metadata?.['reason'] === 'slot_moving'

/** How long a client waits before it asks again for what moves, in seconds. */
const movingS = 2

/** The answer for an account while its slot moves to another shard. */
export const slotMoving = (): Refusal =>
  new Refusal('unavailable', {
    message:
      'This account moves to another shard now. Nothing was done or charged; send the request ' +
      'again when Retry-After says.',
    metadata: { reason: 'slot_moving' },
    headers: { 'retry-after': `${movingS}` },
  })
