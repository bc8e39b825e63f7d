/** The budget of what an account may store without paying for it, by UTC day. */
import type { Millis } from '../kernel/clock.ts'
import { nusdPerUsd } from '../kernel/money.ts'
import { Refusal } from '../kernel/refusal.ts'
import type { AccountRow } from '../storage/db/schema/schema.ts'
import type { Command } from './command.ts'
import type { PartRows } from './part.ts'
import type { TrackedRows, UnitOfWork } from './unit-of-work.ts'

/**
 * Rows and bytes a day of an account that never paid; 0 for no limit. Each dollar that ever came
 * in adds as much again.
 */
export type FreeLimits = {
  readonly freeWrites: number
  readonly freeBytes: number
  /** Runs that may end a day at no cost though they held money, by the client; 0 for no limit. */
  readonly unpaidRuns: number
  /** The operator's account that pays for visitors, who have limits of their own. */
  readonly sponsor?: string
}

/** Budgets that a command may use which an owner needs to repair an account. */
export const repairTimes = 2

const freeDayMs = 86_400_000

type Budgeted = Pick<AccountRow, 'id' | 'paidIn' | 'freeDay'>
type FreeCounts = Budgeted & Pick<AccountRow, 'freeWrites' | 'freeBytes'>

/** Whether money ever came in. Its first movement can be nothing else. */
export const isFunded = ({ moves }: Pick<AccountRow, 'moves'>): boolean => moves > 0

/**
 * Why an account may store nothing more today without paying; undefined while it may. The counts
 * are those of its row, which the command has locked: two nodes share one budget.
 * @param times the budgets that the command may use: repairs go on where others are refused
 */
export function whyNoFreeWrites(
  { freeWrites, freeBytes, sponsor }: FreeLimits,
  row: FreeCounts | undefined,
  now: Millis,
  times = 1,
): Refusal | undefined {
  if (!row || row.freeDay !== dayOf(now) || row.id === sponsor) return undefined
  const budgets = times * budgetsOf(row)
  const isOver =
    isAbove(row.freeWrites, freeWrites * budgets) || isAbove(row.freeBytes, freeBytes * budgets)
  return isOver ? noFreeWrites(now) : undefined
}

/**
 * Why a run that holds money may not begin: too many of its account ended today at no cost, by the
 * client's doing; undefined while it may.
 */
export function whyNoUnpaidRuns(
  { unpaidRuns, sponsor }: Pick<FreeLimits, 'unpaidRuns' | 'sponsor'>,
  row: Budgeted & Pick<AccountRow, 'unpaidRuns'>,
  now: Millis,
): Refusal | undefined {
  if (row.freeDay !== dayOf(now) || row.id === sponsor) return undefined
  if (!isAbove(row.unpaidRuns, unpaidRuns * budgetsOf(row))) return undefined
  return new Refusal('rate_limited', {
    message:
      'Too many runs of this account ended today before they cost anything: their client hung ' +
      'up, cancelled them or sent what the model refuses, or a server without a price answered ' +
      'them. Read answers to their end. Wait until midnight ' +
      'UTC, or deposit: each dollar that came in allows as many again.',
    headers: untilMidnight(now),
    metadata: { limited_by: 'unpaid_runs' },
  })
}

/** Counts a run that held money and ended at no cost, by its client's doing. */
export function noteUnpaidRun(unit: UnitOfWork, accountId: string): void {
  const row = unit.account(accountId)
  if (!row) return
  beginDay(row, dayOf(unit.now))
  row.unpaidRuns = (row.unpaidRuns ?? 0) + 1
  unit.changed('budget', row)
}

/** Each dollar that ever came in adds a budget. */
const budgetsOf = ({ paidIn }: Budgeted): number => 1 + Number((paidIn ?? 0n) / nusdPerUsd)

/** The counts of a day begin at 0. */
function beginDay(row: AccountRow, day: number): void {
  if (row.freeDay === day) return
  Object.assign(row, { freeDay: day, freeWrites: 0, freeBytes: 0, unpaidRuns: 0 })
}

/** A limit of 0 is none. */
const isAbove = (count: number | null, limit: number): boolean => limit > 0 && (count ?? 0) >= limit

/** The UTC day of a moment, since the epoch. */
export const dayOf = (now: Millis): number => Math.floor(now / freeDayMs)

/** The refusal of an account that used its budget of this day up. */
export function noFreeWrites(now: Millis): Refusal {
  return new Refusal('rate_limited', {
    message:
      'This account has stored as much today as it may without paying: free runs, quotes, keys ' +
      'and changes count. Wait until midnight UTC, or deposit: a dollar doubles what is free, ' +
      'and what is paid for never counts.',
    headers: untilMidnight(now),
    metadata: { limited_by: 'free_writes' },
  })
}

const untilMidnight = (now: Millis) => {
  const ms = (dayOf(now) + 1) * freeDayMs - now
  return { 'retry-after': String(Math.ceil(ms / 1000)), 'retry-after-ms': String(ms) }
}

/**
 * Counts the rows of a command that moves no money on its account. A hold counts nothing: the end
 * of its run does, if the run held no money. One that held some counts in {@link noteUnpaidRun}.
 */
export class FreeCount {
  private readonly before: number[]

  private constructor(
    private readonly tracked: TrackedRows,
    private readonly account: string,
  ) {
    this.before = lengthsOf(tracked)
  }

  /** Before a command decides; undefined for one that does not count, as paid runs do not. */
  static of(tracked: TrackedRows, command: Command<unknown>): FreeCount | undefined {
    const { account, run, isHold } = command
    if (isHold || (run !== undefined && tracked.runs.get(run)?.hold !== 0n)) return undefined
    return new FreeCount(tracked, account)
  }

  /** After it decided. */
  note(now: Millis): void {
    const { tracked, before } = this
    const row = tracked.accounts.get(this.account)
    if (!row || tracked.added.transfers.length > (before[0] ?? 0)) return
    let writes = 0
    let bytes = 0
    for (const [i, rows] of storedIn(tracked).entries()) {
      for (let at = before[i] ?? 0; at < rows.length; at++) {
        writes++
        bytes += rowBytes + sizeOf(rows[at])
      }
    }
    if (writes === 0) return
    beginDay(row, dayOf(now))
    row.freeWrites = (row.freeWrites ?? 0) + writes
    row.freeBytes = (row.freeBytes ?? 0) + bytes
    tracked.written.budgets.add(row)
  }
}

/** Bytes of a row beside its values: its header, its places in indexes, its part of the log. */
const rowBytes = 256

/** Rows that stay of a command, `transfers` first. Rows of open runs go when they end. */
const storedIn = ({ added, calledBack, parts }: TrackedRows): readonly (readonly unknown[])[] => [
  added.transfers,
  added.keys,
  added.secrets,
  added.ended,
  added.audits,
  added.events,
  added.costs,
  added.calls,
  calledBack.answered,
  // Last: a command may be the first of its batch that adds to a part.
  ...(parts ? keptIn(parts) : []),
]

const keptIn = (parts: PartRows): (readonly unknown[])[] =>
  [...parts].map(([part, rows]) => part.kept?.(rows as never) ?? [])

const lengthsOf = (tracked: TrackedRows): number[] => storedIn(tracked).map(({ length }) => length)

/** The bytes of a value as a database keeps it, about. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  if (value instanceof Uint8Array) return value.length
  let bytes = 0
  if (Array.isArray(value)) for (const one of value) bytes += 1 + sizeOf(one)
  else for (const name in value) bytes += name.length + sizeOf((value as Fields)[name])
  return bytes
}

type Fields = Record<string, unknown>
