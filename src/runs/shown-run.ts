import type { Millis } from '../kernel/clock.ts'
import type { RunRow } from '../storage/db/schema.ts'
import type { RunFilter } from './store.ts'

/** A run with what is shown of it besides its row. */
export type ShownRun = { run: RunRow; keyName: string }

/** A tag by its name, or by its name and value. */
export type TagFilter = { name: string; value?: string | undefined }

/** What the list of an account's runs can be narrowed by. */
export type ShownFilter = RunFilter & {
  /** A key of the account itself. */
  keyId?: string | undefined
  tag?: TagFilter | undefined
  /** When a run was begun: `from` ≤ at < `to`. */
  from?: Millis | undefined
  to?: Millis | undefined
}

export type ShownPage = {
  items: ShownRun[]
  /** What the next page comes after; undefined at the end. */
  next: string | undefined
}

/** Runs of one reading that a filter may pass over; the next page goes on behind them. */
export const passedMax = 4000

export const hasTag = ({ tags }: Pick<RunRow, 'tags'>, tag: TagFilter | undefined): boolean =>
  tag === undefined ||
  (Object.hasOwn(tags, tag.name) && (tag.value === undefined || tags[tag.name] === tag.value))

/** `team:search` or `team`; a name holds no colon. */
export function readTag(text: string): TagFilter {
  const at = text.indexOf(':')
  return at === -1 ? { name: text } : { name: text.slice(0, at), value: text.slice(at + 1) }
}

export const tagText = ({ name, value }: TagFilter): string =>
  value === undefined ? name : `${name}:${value}`

export const isInFlight = ({ finishedAt }: Pick<RunRow, 'finishedAt'>): boolean =>
  finishedAt === null
