/** Reads keys. Commands of the ledger write them. */
import type { KeyScope } from '../../kernel/acting.ts'
import type { Millis } from '../../kernel/clock.ts'
import type { Nusd } from '../../kernel/money.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import type { Notice } from '../../storage/db/engine/notices.ts'
import type { KeyRow, WindowRow } from '../../storage/db/schema/schema.ts'
import type { Caller } from './key.ts'
import type { KeyFilter, ShownKey } from './shown-key.ts'

export type Keys = Callers & ShownKeys & KeyUses & KeySpending & KeyRows & LeftPausedKeys

/** Callers by their secrets. A caller is cached for up to a second. */
export type Callers = {
  /** The cached caller of a secret. */
  knownCaller(secret: string): Caller | undefined
  /** The caller of a secret's hash: at once if cached, else read from the database. */
  findCaller(hash: string): Caller | Promise<Caller | undefined> | undefined
  /** Drops the cached callers of a key and of all below it, here and on other nodes. */
  forget(keyId: string): void
  /** Drops the cached callers of an account, here and on other nodes. */
  forgetAccount(account: string): void
  /** Forgets all callers, because slots moved. */
  forgetAll(): void
  /** Drops what another node reports as changed; false if the notice is not about keys. */
  hear(notice: Notice): boolean
}

/** Keys with their chains and what their present windows count. */
export type ShownKeys = {
  /** @throws Error if the key does not exist: call {@link KeyRows.find} first. */
  show(id: string, now: Millis): Promise<ShownKey>
  /** All keys, or all of an account, the oldest first: for the command line. */
  list(account: string | undefined, now: Millis): Promise<ShownKey[]>
  /** A key and all below it, newest first; `after` is the id of one of them. */
  listBelow(top: KeyRow, page: PageRequest, now: Millis): Promise<Page<ShownKey>>
  /**
   * The keys of an account or of a branch that are neither revoked nor expired themselves, each
   * below its parent, the newest first. At most 500; {@link listAll} returns the others too.
   */
  tree(whose: KeyScope, now: Millis): Promise<ShownKey[]>
  /** Keys of an account or branch that pass a filter, newest first; `after` names one of them. */
  listAll(
    whose: KeyScope,
    filter: KeyFilter,
    page: PageRequest,
    now: Millis,
  ): Promise<Page<ShownKey>>
}

/** When keys were last used: noted in memory, written within the minute. */
export type KeyUses = {
  noteUse(keyId: string, at: Millis): void
  writeUses(): Promise<void>
}

export type KeySpending = {
  /** Cost and number of the runs of a key and the keys below it, since the beginning of a day. */
  spentSince(key: KeyRow, day: Millis): Promise<{ cost: Nusd; runs: number }>
}

/** A key or webhook that stays stopped after a leak. `name` of a webhook is its host. */
export type StoppedItem = { object: 'key' | 'webhook'; id: string; name: string }

export type LeftPausedKeys = {
  /** The keys below this one, and the webhooks that it or these chose, which a leak stopped. */
  leftPaused(key: Pick<KeyRow, 'id' | 'accountId'>): Promise<StoppedItem[]>
}

export type KeyRows = {
  find(id: string): Promise<KeyRow | undefined>
  /**
   * The key of a secret's hash that works, or that the key itself rotated away in the last 90 days
   * without a leak that was answered since.
   */
  ofLeakedSecret(hash: string, now: Millis): Promise<KeyRow | undefined>
  /** The ids of a key and of all keys below it. */
  subtree(key: KeyRow): Promise<string[]>
  /** The ids of all keys of a branch, ended ones too. */
  ofBranch(branch: string): Promise<string[]>
  /** A key and all keys below it. */
  below(key: KeyRow): Promise<KeyRow[]>
  /** The key of each run of an account that has not ended, on any node. */
  runsInFlight(account: string): Promise<{ keyId: string }[]>
  /** The windows that began at these times; one that counted nothing has no row. */
  windows(wanted: { keyId: string; start: Millis }[]): Promise<WindowRow[]>
  /**
   * The keys among these that are revoked, or that a brake with `stop` paused. Checks the runs in
   * flight.
   */
  stoppedAmong(ids: string[]): Promise<{ id: string; reason: 'key_revoked' | 'brake' }[]>
}
