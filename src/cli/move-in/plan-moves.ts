/** Decides which keys and grants another gateway's keys and balances are to become. */
import type { KeyRequest } from '../../access/keys/issue.ts'
import { dayMs, matches } from '../../access/keys/key.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { firstIdAt, type IdPrefix } from '../../kernel/ids.ts'
import { max, maxNusd, min, type Nusd, toUsd } from '../../kernel/money.ts'
import { parseBlock } from '../../kernel/network-block.ts'
import { redact } from '../../kernel/redact.ts'
import { type Aliases, aliasFinder } from '../../models/aliases.ts'
import {
  addMisfit,
  type FoundKey,
  type FoundOwner,
  type FoundState,
  type SourceContents,
  secretRemover,
  unowned,
} from './found.ts'

/** A key as it is to be. */
export type KeyWish = Required<Pick<KeyRequest, 'account' | 'capLimit' | 'capWindow' | 'name'>> & {
  id: string
  parentId: string | undefined
  state: FoundState
  expiresAt: Millis
  /** False for an expiry that was made up here: a later run leaves it. */
  hasExpiry: boolean
  /** Empty for all of its parent. */
  models: readonly string[]
  ipCidrs: readonly string[]
  rpm: number | null
  concurrency: number | null
  tags: Record<string, string>
  owner: string
}

/** An owner: its parent key, the keys below it, its money. */
export type OwnerPlan = {
  source: string
  grantId: string
  account: string
  /** At least 0. */
  balance: Nusd
  /** Whether its keys are of people who share no money. */
  isOfStrangers: boolean
  parent: KeyWish
  keys: KeyWish[]
}

/** A key that does not come over, and stops here if an earlier run made it. */
export type PlannedStop = { id: string; state: FoundState }

export type MovePlan = {
  /** The space of ids: the kind of the other gateway, and its name where it has one. */
  as: string
  /** Whether owners may be here under another name: they are others then. */
  isSeparate: boolean
  owners: OwnerPlan[]
  stops: PlannedStop[]
  /** The ids of all keys and owners there. */
  known: ReadonlySet<string>
}

export type MoveWish = {
  as: string
  isSeparate: boolean
  /** Undefined for an owner without an account here. */
  accountOf(owner: FoundOwner): { account: string; isShared: boolean } | undefined
  aliases: Aliases
  now: Millis
  /** The two characters of the shard in ids. */
  mark: string
}

/** The longest life of a moved key, in ms, and that of a key that had no expiry. */
const lifeMs = 365 * dayMs

export function planMoves(found: SourceContents, wish: MoveWish): MovePlan {
  const { as, isSeparate, mark } = wish
  const owners: OwnerPlan[] = []
  const stops: PlannedStop[] = []
  const stop = ({ id }: { id: string }, state: FoundState): void => {
    if (state.is !== 'on') stops.push({ id: idOf('key', `${as}/${id}`, mark), state })
  }
  const clean = secretRemover(found)
  const keysOf = Map.groupBy(found.keys, ({ owner }) => owner)
  for (const owner of found.owners) {
    const keys = keysOf.get(owner.id) ?? []
    if (keys.length === 0 && owner.balance === 0n) {
      stop(owner, owner.state)
      continue
    }
    const place = wish.accountOf(owner)
    if (place) {
      owners.push(ownerPlan(found, owner, { ...wish, ...place, keys, clean, stop }))
      continue
    }
    addMisfit(found.misfits, 'an owner without an account here: --account or --map', owner.id)
    stop(owner, owner.state)
    for (const key of keys) stop(key, key.state.is === 'on' ? owner.state : key.state)
  }
  const named = new Set(found.owners.map(({ id }) => id))
  for (const key of found.keys) if (!named.has(key.owner)) stop(key, key.state)
  const ids = [...found.owners, ...found.keys].map(({ id }) => idOf('key', `${as}/${id}`, mark))
  return { as, isSeparate, owners, stops, known: new Set(ids) }
}

type OwnerContext = MoveWish & {
  account: string
  isShared: boolean
  keys: readonly FoundKey[]
  clean(text: string): string
  stop(key: FoundKey, state: FoundState): void
}

function ownerPlan(found: SourceContents, owner: FoundOwner, context: OwnerContext): OwnerPlan {
  const { as, mark, account, keys } = context
  const source = `${as}/${owner.id}`
  if (owner.balance < 0n) {
    const owes = `${owner.id} (${toUsd(owner.balance)} USD)`
    addMisfit(found.misfits, 'a negative balance becomes zero', owes)
  }
  const balance = max(owner.balance, 0n)
  const parent = parentOf(found, owner, source, { ...context, balance })
  const below: KeyWish[] = []
  for (const key of keys) {
    const why = key.state.is === 'gone' ? undefined : faultOf(key)
    if (why !== undefined) addMisfit(found.misfits, why, key.name)
    if (why !== undefined || key.state.is === 'gone') context.stop(key, key.state)
    else below.push(keyOf(found, key, { ...context, parent }))
  }
  const isOfStrangers = owner.id.startsWith(unowned)
  const grantId = idOf('req', source, mark)
  return { source, grantId, account, balance, isOfStrangers, parent, keys: below }
}

/** Caps begin at 1 nano-USD: a key without money cannot spend. */
const asCap = (amount: Nusd): Nusd => min(max(amount, 1n), maxNusd)

type ParentContext = OwnerContext & { balance: Nusd }

/** Only in an account of its own is a cap renewed: a shared one would pay it from others' money. */
function parentOf(
  found: SourceContents,
  owner: FoundOwner,
  source: string,
  { as, now, mark, account, isShared, balance, aliases, clean }: ParentContext,
): KeyWish {
  const { renewed } = owner
  // A rhythm without a window here becomes a lifetime, which has what is left.
  const isRenewed = renewed !== undefined && renewed.window !== 'lifetime' && !isShared
  if (renewed && !isRenewed) {
    addMisfit(found.misfits, 'its budget is renewed there; here it has what is left', owner.id)
  }
  return {
    ...{ id: idOf('key', source, mark), account, parentId: undefined, owner: owner.id },
    ...{ name: nameOf(clean(`${as} ${owner.name}`)), state: owner.state },
    ...{ capLimit: asCap(isRenewed ? renewed.limit : balance) },
    ...{ capWindow: isRenewed ? renewed.window : 'lifetime', expiresAt: now + lifeMs },
    ...{ hasExpiry: false, models: namesHere(owner.models ?? [], found, aliases), ipCidrs: [] },
    ...{ rpm: owner.rpm ?? null, concurrency: owner.concurrency ?? null },
    tags: { moved_from: clean(tagOf(source)) },
  }
}

type KeyContext = OwnerContext & { parent: KeyWish }

function keyOf(found: SourceContents, key: FoundKey, context: KeyContext): KeyWish {
  const { as, now, mark, account, parent, aliases, clean } = context
  const source = `${as}/${key.id}`
  const cap = asCap(key.cap ?? parent.capLimit)
  if (key.expiresAt !== undefined && key.expiresAt > now + lifeMs) {
    addMisfit(found.misfits, 'an expiry in more than 365 days comes after 365 days', key.name)
  }
  if (cap > parent.capLimit && parent.capLimit > 1n) {
    addMisfit(found.misfits, 'a cap above the balance of its owner becomes that', key.name)
  }
  const models = key.models && commonOf(namesHere(key.models, found, aliases), parent.models)
  const state: FoundState =
    models?.length === 0 && key.state.is === 'on'
      ? { is: 'off', why: 'it allows no model that its owner may use' }
      : key.state
  return {
    ...{ id: idOf('key', source, mark), account, parentId: parent.id, owner: key.owner, state },
    ...{
      name: nameOf(clean(key.name)),
      capLimit: min(cap, parent.capLimit),
      capWindow: key.window,
    },
    expiresAt: Math.min(key.expiresAt ?? now + lifeMs, now + lifeMs),
    ...{ hasExpiry: key.expiresAt !== undefined, models: models ?? [], ipCidrs: key.networks },
    ...{ rpm: key.rpm ?? null, concurrency: key.concurrency ?? null },
    tags: { moved_from: clean(tagOf(source)) },
  }
}

/** The names of models as they are here. */
function namesHere(names: readonly string[], found: SourceContents, aliases: Aliases): string[] {
  const idFor = aliasFinder({ ...aliases, ...found.aliases })
  const ids = names.map((name) => (name.includes('*') ? name : (idFor(name) ?? name)))
  return [...new Set(ids)]
}

/** The globs of both lists that the other covers; an empty list covers all. */
export function commonOf(one: readonly string[], other: readonly string[]): string[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  const within = (some: readonly string[], globs: readonly string[]) =>
    some.filter((model) => globs.some((glob) => matches(glob, model)))
  return [...new Set([...within(one, other), ...within(other, one)])]
}

/** Why a key cannot come over; one whose limits cannot be kept would allow more than it did. */
function faultOf({ models = [], networks }: FoundKey): string | undefined {
  if (models.length > 64) return 'a key with more than 64 models'
  if (!models.every((name) => /^[\x21-\x7e]{1,200}$/.test(name))) {
    return 'a key with the name of a model that cannot be one here'
  }
  const isReadable = networks.length <= 64 && networks.every((one) => parseBlock(one))
  return isReadable ? undefined : 'a key with networks that cannot be read'
}

const nameOf = (text: string): string =>
  redact(text).replace(/\p{C}/gu, ' ').trim().slice(0, 64).toWellFormed() || 'key'

/** Long ids of the other gateway may be hashes of its secrets: the beginning names them well. */
const tagOf = (source: string): string =>
  source
    .replace(/(?<![0-9a-f])[0-9a-f]{40,}$/, (id) => id.slice(0, 12))
    .replace(/\p{C}/gu, ' ')
    .slice(0, 200)

/** All moved rows have this time in their ids: a time of the other gateway may be told or not. */
const movedAt = 1_577_836_800_000

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The ids that imports make are from the first to before the second. */
export const movedIds = (prefix: IdPrefix, mark: string): [string, string] => [
  firstIdAt(prefix, movedAt, mark),
  firstIdAt(prefix, movedAt + 1, mark),
]

/** The same source always becomes the same id: a second run finds it. */
export function idOf(prefix: IdPrefix, source: string, mark: string): string {
  const digits = [...sha256(`counterfoil move-in ${source}`)].map((byte) => alphabet[byte & 31])
  return `${firstIdAt(prefix, movedAt, mark)}${digits.join('')}`.slice(0, prefix.length + 27)
}
