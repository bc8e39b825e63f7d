/** Decides which keys and grants another gateway's keys and balances are to become. */
import type { KeyRequest } from '../../access/keys/issue.ts'
import { dayMs, matches } from '../../access/keys/key.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { firstIdAt, type IdPrefix } from '../../kernel/ids.ts'
import { max, maxNusd, min, type Nusd, toUsd } from '../../kernel/money.ts'
import { isPart, parseBlock } from '../../kernel/network-block.ts'
import { type Aliases, aliasFinder } from '../../models/aliases.ts'
import {
  addMisfit,
  type FoundKey,
  type FoundOwner,
  type FoundState,
  lineCleaner,
  type SourceContents,
  unowned,
} from './found.ts'

/** A key as it is to be. */
export type KeyWish = Required<Pick<KeyRequest, 'capLimit' | 'capWindow' | 'name'>> & {
  id: string
  /** Its own id there, without the space of ids. */
  foundId: string
  /** Undefined for an owner without an account here. */
  account: string | undefined
  parentId: string | undefined
  /** Whether other keys stand below it. */
  isParent: boolean
  state: FoundState
  expiresAt: Millis
  /** False for an expiry that was made up here: a later run leaves it. */
  hasExpiry: boolean
  /** The cap that a later run takes where it is lower; undefined for one that was made up here. */
  capThere: Nusd | undefined
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
  account: string | undefined
  /** At least 0. */
  balance: Nusd
  /** Whether its keys are of people who share no money. */
  isOfStrangers: boolean
  parent: KeyWish
  /** Members of teams stand before their keys. */
  keys: KeyWish[]
}

/** A key that is of no owner, and stops here if an earlier run made it. */
export type PlannedStop = { id: string; state: FoundState }

export type MovePlan = {
  /** The space of ids: the kind of the other gateway, and its name where it has one. */
  as: string
  /** Whether owners who are here under another name of the gateway are others. */
  isSeparate: boolean
  /** The ids of new owners whose money did not come over with another owner. */
  newOwners: ReadonlySet<string>
  owners: OwnerPlan[]
  stops: PlannedStop[]
  /** The ids of all keys and owners there. */
  known: ReadonlySet<string>
}

export type MoveWish = {
  as: string
  isSeparate: boolean
  newOwners: ReadonlySet<string>
  /** Undefined for an owner without an account here. */
  accountOf(owner: FoundOwner): string | undefined
  aliases: Aliases
  now: Millis
}

/** The longest life of a moved key, in ms, and that of a key that had no expiry. */
const lifeMs = 365 * dayMs

export function planMoves(found: SourceContents, wish: MoveWish): MovePlan {
  const { as, isSeparate, newOwners } = wish
  const clean = lineCleaner(found)
  const keysOf = Map.groupBy(found.keys, ({ owner }) => owner)
  const owners = found.owners.map((owner) =>
    ownerPlan(found, owner, { ...wish, keys: keysOf.get(owner.id) ?? [], clean }),
  )
  const named = new Set(found.owners.map(({ id }) => id))
  const stops = found.keys
    .filter(({ owner }) => !named.has(owner))
    .map(({ id, state }) => ({ id: idOf('key', `${as}/${id}`), state }))
  const ids = [...found.owners, ...found.keys].map(({ id }) => idOf('key', `${as}/${id}`))
  return { as, isSeparate, newOwners, owners, stops, known: new Set(ids) }
}

type OwnerContext = MoveWish & { keys: readonly FoundKey[]; clean(text: string): string }

function ownerPlan(found: SourceContents, owner: FoundOwner, context: OwnerContext): OwnerPlan {
  const { as, keys, clean } = context
  const account = context.accountOf(owner)
  if (owner.balance < 0n) {
    const owes = `${owner.id} (${toUsd(owner.balance)} USD)`
    addMisfit(found.misfits, 'a negative balance becomes zero', owes)
  }
  const balance = max(owner.balance, 0n)
  if (account === undefined && (keys.length > 0 || balance > 0n)) {
    addMisfit(found.misfits, 'an owner without an account here: --account or --map', owner.id)
  }
  const source = `${as}/${clean(owner.id)}`
  const parent = parentOf(found, owner, { ...context, account, balance })
  const made = new Map<string, KeyWish>()
  for (const key of keys) {
    const above = (key.member === undefined ? undefined : made.get(key.member)) ?? parent
    made.set(key.id, keyOf(found, key, { ...context, account, above }))
  }
  return {
    ...{ source, grantId: idOf('req', `${as}/${owner.id}`), account, balance, parent },
    ...{ isOfStrangers: owner.id.startsWith(unowned), keys: [...made.values()] },
  }
}

/** Caps begin at 1 nano-USD: a key without money cannot spend. */
const asCap = (amount: Nusd): Nusd => min(max(amount, 1n), maxNusd)

type ParentContext = OwnerContext & { account: string | undefined; balance: Nusd }

/** Its cap is never renewed: what is left there is all that comes over. */
function parentOf(
  found: SourceContents,
  owner: FoundOwner,
  { as, now, account, balance, aliases, clean }: ParentContext,
): KeyWish {
  const source = `${as}/${owner.id}`
  const models = namesHere(owner.models ?? [], found, aliases)
  return {
    ...{ id: idOf('key', source), foundId: owner.id, account, parentId: undefined },
    ...{ owner: owner.id, isParent: true, name: nameOf(clean(`${as} ${owner.name}`)) },
    ...{ state: owner.state.is === 'on' ? readable(models, []) : owner.state, ipCidrs: [] },
    ...{ capLimit: asCap(balance), capWindow: 'lifetime', expiresAt: now + lifeMs, models },
    ...{
      hasExpiry: false,
      capThere: owner.isOfKeys ? undefined : asCap(balance),
      rpm: owner.rpm ?? null,
      concurrency: owner.concurrency ?? null,
    },
    tags: { moved_from: tagOf(as, owner.id, clean) },
  }
}

type KeyContext = OwnerContext & { account: string | undefined; above: KeyWish }

function keyOf(found: SourceContents, key: FoundKey, context: KeyContext): KeyWish {
  const { as, now, account, above, aliases, clean } = context
  const source = `${as}/${key.id}`
  const cap = asCap(key.cap ?? above.capLimit)
  const capLimit = key.isUnfunded ? 1n : min(cap, above.capLimit)
  if (key.expiresAt !== undefined && key.expiresAt > now + lifeMs) {
    addMisfit(found.misfits, 'an expiry in more than 365 days comes after 365 days', key.name)
  }
  if (cap > above.capLimit && above.capLimit > 1n && !key.isUnfunded) {
    addMisfit(found.misfits, 'a cap above the balance of its owner becomes that', key.name)
  }
  const own = namesHere(key.models ?? [], found, aliases)
  const models = key.models ? commonOf(own, above.models) : above.models
  // A member without a model has an empty list, which would be all models below it.
  const isNone =
    (key.models !== undefined && models.length === 0) ||
    (above.parentId !== undefined && above.state.is !== 'on')
  const why = isNone ? 'it allows no model that its owner may use' : undefined
  return {
    ...{ id: idOf('key', source), foundId: key.id, account, parentId: above.id },
    ...{ owner: key.owner, isParent: key.isMember === true, name: nameOf(clean(key.name)) },
    state: key.state.is === 'on' ? readable(own, key.networks, why) : key.state,
    ...{ capLimit, capWindow: key.window },
    capThere: !key.isUnfunded ? capLimit : key.cap === undefined ? undefined : cap,
    expiresAt: Math.min(key.expiresAt ?? now + lifeMs, now + lifeMs),
    ...{ hasExpiry: key.expiresAt !== undefined, models, ipCidrs: key.networks },
    ...{ rpm: key.rpm ?? null, concurrency: key.concurrency ?? null },
    tags: { moved_from: tagOf(as, key.id, clean) },
  }
}

/** The names of models as they are here. */
function namesHere(names: readonly string[], found: SourceContents, aliases: Aliases): string[] {
  const idFor = aliasFinder({ ...aliases, ...found.aliases })
  const ids = names.map((name) => (name.includes('*') ? name : (idFor(name) ?? name)))
  return [...new Set(ids)]
}

type Covers = (outer: string, inner: string) => boolean

/** The entries of both lists that the other covers; an empty list covers all. */
function bothOf(one: readonly string[], other: readonly string[], isIn: Covers): string[] {
  if (one.length === 0 || other.length === 0) return [...one, ...other]
  const within = (some: readonly string[], outer: readonly string[]) =>
    some.filter((inner) => outer.some((entry) => isIn(entry, inner)))
  return [...new Set([...within(one, other), ...within(other, one)])]
}

export const commonOf = (one: readonly string[], other: readonly string[]): string[] =>
  bothOf(one, other, matches)

export const commonNetworks = (one: readonly string[], other: readonly string[]): string[] =>
  bothOf(one, other, isPart)

/** Off where limits cannot be kept: a key without them would allow more than it did. */
function readable(
  models: readonly string[],
  networks: readonly string[],
  otherwise?: string,
): FoundState {
  const isNamed = models.every((name) => /^[\x21-\x7e]{1,200}$/.test(name))
  const isBound = networks.length <= 64 && networks.every((one) => parseBlock(one))
  const why =
    models.length > 64
      ? 'it has more than 64 models'
      : !isNamed
        ? 'it has the name of a model that cannot be one here'
        : isBound
          ? otherwise
          : 'it has networks that cannot be read'
  return why === undefined ? { is: 'on' } : { is: 'off', why }
}

const nameOf = (text: string): string => text.trim().slice(0, 64).toWellFormed() || 'key'

/** Long ids of the other gateway may be hashes of its secrets: the beginning names them well. */
function tagOf(as: string, id: string, clean: (text: string) => string): string {
  const short = id.replace(/(?<![0-9a-f])[0-9a-f]{40,}$/, (hash) => hash.slice(0, 12))
  // The name of the gateway stays as it is: later runs find their keys by it.
  return `${as}/${clean(short)}`.slice(0, 200).toWellFormed()
}

/** All moved rows have this time in their ids: a time of the other gateway may be told or not. */
const movedAt = 1_577_836_800_000

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The ids that imports make are from the first to before the second. */
export const movedIds = (prefix: IdPrefix): [string, string] => [
  firstIdAt(prefix, movedAt),
  firstIdAt(prefix, movedAt + 1),
]

/** The same source always becomes the same id: a second run finds it. */
export function idOf(prefix: IdPrefix, source: string): string {
  const digits = [...sha256(`counterfoil move-in ${source}`)].map((byte) => alphabet[byte & 31])
  return `${firstIdAt(prefix, movedAt)}${digits.join('')}`.slice(0, prefix.length + 27)
}
