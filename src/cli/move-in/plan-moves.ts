/** Decides which keys and grants another gateway's keys and balances become. */
import type { KeyRequest } from '../../access/keys/issue.ts'
import { dayMs } from '../../access/keys/key.ts'
import type { Millis } from '../../kernel/clock.ts'
import { sha256 } from '../../kernel/hash.ts'
import { firstIdAt } from '../../kernel/ids.ts'
import { max, min, type Nusd, toUsd } from '../../kernel/money.ts'
import { parseBlock } from '../../kernel/network-block.ts'
import type { MovedGrant } from '../../ledger/store/moved-grants.ts'
import { type Aliases, aliasFinder } from '../../models/aliases.ts'
import { addMisfit, type FoundKey, type FoundOwner, type SourceContents } from './found.ts'

/** A key as it is to be; a parent stands before those below it. */
export type KeyWish = Required<Pick<KeyRequest, 'account' | 'capLimit' | 'capWindow' | 'name'>> & {
  id: string
  parentId: string | undefined
  expiresAt: Millis
  /** False for an expiry that was made up here: a later run leaves it. */
  hasExpiry: boolean
  models: string[]
  ipCidrs: string[]
  rpm: number | null
  concurrency: number | null
  tags: Record<string, string>
  isParent: boolean
  owner: string
}

/** Money for an owner; `amount` is 0 where all of it was granted before. */
export type GrantWish = {
  source: string
  account: string
  balance: Nusd
  before: Nusd
  amount: Nusd
}

export type MovePlan = { keys: KeyWish[]; grants: GrantWish[] }

export type MoveWish = {
  /** The name of the other gateway, in front of all its ids. */
  as: string
  /** Undefined for an owner without an account here. */
  accountOf(owner: FoundOwner): { account: string; isShared: boolean } | undefined
  granted: ReadonlyMap<string, MovedGrant>
  aliases: Aliases
  now: Millis
  /** The two characters of the shard in ids. */
  mark: string
}

/** The longest life of a moved key, in ms, and that of a key that had no expiry. */
const lifeMs = 365 * dayMs

/** @throws Error when a balance went to another account before */
export function planMoves(found: SourceContents, wish: MoveWish): MovePlan {
  const plan: MovePlan = { keys: [], grants: [] }
  for (const owner of found.owners) {
    const place = wish.accountOf(owner)
    const keys = found.keys.filter((key) => key.owner === owner.id)
    if (!place) {
      addMisfit(found.misfits, 'an owner without an account here: --account or --map', owner.id)
      continue
    }
    const total = addGrant(plan, found, owner, { ...wish, account: place.account })
    const parent =
      place.isShared && owner.hasParent ? parentOf(owner, place.account, total, wish) : undefined
    if (parent) plan.keys.push(parent)
    for (const key of keys) {
      const why = faultOf(key)
      if (why !== undefined) addMisfit(found.misfits, why, key.name)
      else plan.keys.push(keyOf(key, { ...wish, account: place.account, parent, total, found }))
    }
  }
  return plan
}

/** Returns what its owner was granted in all, this time included. */
function addGrant(
  plan: MovePlan,
  { misfits }: SourceContents,
  owner: FoundOwner,
  { as, granted, account }: MoveWish & { account: string },
): Nusd {
  const source = `${as}/${owner.id}`
  const before = granted.get(source)
  if (before && before.account !== account) {
    throw new Error(`${source} was moved to ${before.account} before; name that account for it`)
  }
  if (owner.balance < 0n) {
    const owes = `${owner.id} (${toUsd(owner.balance)} USD)`
    addMisfit(misfits, 'a negative balance becomes zero', owes)
  }
  const balance = max(owner.balance, 0n)
  const paid = before?.amount ?? 0n
  if (paid > balance) {
    addMisfit(misfits, 'it has less there than was granted here before: nothing is taken', owner.id)
  }
  const amount = max(balance - paid, 0n)
  plan.grants.push({ source, account, balance, before: paid, amount })
  return max(balance, paid)
}

/** Caps begin at 1 nano-USD: a key without money cannot spend, and can be raised. */
const asCap = (amount: Nusd): Nusd => max(amount, 1n)

function parentOf(
  owner: FoundOwner,
  account: string,
  total: Nusd,
  { as, now, mark }: MoveWish,
): KeyWish {
  const source = `${as}/${owner.id}`
  return {
    ...{ id: keyIdOf(source, owner.createdAt, mark), account, parentId: undefined },
    ...{ name: nameOf(`${as} ${owner.names[0] ?? owner.id}`), isParent: true, owner: owner.id },
    ...{ capLimit: asCap(total), capWindow: 'lifetime', expiresAt: now + lifeMs },
    ...{ hasExpiry: false, models: [], ipCidrs: [], rpm: null, concurrency: null },
    tags: { moved_from: tagOf(source) },
  }
}

type KeyContext = MoveWish & {
  account: string
  parent: KeyWish | undefined
  total: Nusd
  found: SourceContents
}

function keyOf(key: FoundKey, context: KeyContext): KeyWish {
  const { as, now, mark, account, parent, total, found, aliases } = context
  const source = `${as}/${key.id}`
  const cap = asCap(key.cap ?? total)
  const most = parent?.capLimit ?? cap
  if (cap > most) {
    addMisfit(found.misfits, 'a cap above the balance of its owner becomes that', key.name)
  }
  if (key.expiresAt !== undefined && key.expiresAt > now + lifeMs) {
    addMisfit(found.misfits, 'an expiry in more than 365 days comes after 365 days', key.name)
  }
  const idOf = aliasFinder({ ...aliases, ...found.aliases })
  return {
    ...{ id: keyIdOf(source, key.createdAt, mark), account, parentId: parent?.id },
    ...{ name: nameOf(key.name), isParent: false, owner: key.owner },
    ...{ capLimit: min(cap, most), capWindow: key.window },
    expiresAt: Math.min(key.expiresAt ?? now + lifeMs, now + lifeMs),
    hasExpiry: key.expiresAt !== undefined,
    models: [
      ...new Set(key.models.map((name) => (name.includes('*') ? name : (idOf(name) ?? name)))),
    ],
    ...{ ipCidrs: key.networks, rpm: key.rpm ?? null, concurrency: key.concurrency ?? null },
    tags: { moved_from: tagOf(source) },
  }
}

/** Why a key cannot come over; one whose limits cannot be kept would allow more than it did. */
function faultOf({ models, networks }: FoundKey): string | undefined {
  if (models.length > 64) return 'a key with more than 64 models'
  if (!models.every((name) => /^[\x21-\x7e]{1,200}$/.test(name))) {
    return 'a key with the name of a model that cannot be one here'
  }
  const isReadable = networks.length <= 64 && networks.every((one) => parseBlock(one))
  return isReadable ? undefined : 'a key with networks that cannot be read'
}

const nameOf = (text: string): string =>
  text
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 64) || 'key'

/** Long ids of the other gateway may be hashes of its secrets: the beginning names them well. */
const tagOf = (source: string): string =>
  source.replace(/(?<![0-9a-f])[0-9a-f]{40,}$/, (id) => id.slice(0, 12))

/** Ids of moved keys that name no time sort before all others. */
const earliest = 1_577_836_800_000

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** The same source always becomes the same key: a second run finds it. */
export function keyIdOf(source: string, createdAt: Millis | undefined, mark: string): string {
  const head = firstIdAt('key', createdAt ?? earliest, mark)
  const digits = [...sha256(`counterfoil move-in ${source}`)].map((byte) => alphabet[byte & 31])
  return `${head}${digits.join('')}`.slice(0, 'key_'.length + 26)
}
