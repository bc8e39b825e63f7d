/** Posts commands to the ledger in batches: load, decide, write, in one transaction. */

import type { Clock } from '../kernel/clock.ts'
import { Refusal } from '../kernel/refusal.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { remember } from '../storage/db/engine/memory.ts'
import type { EndedRun } from '../storage/db/schema/schema.ts'
import type { Query, Work } from '../storage/db/sql/query-steps.ts'
import { type BatchLimits, makeBatchQueue } from './batch-queue.ts'
import type { Command } from './command.ts'
import { isOneCommandsFault } from './fault.ts'
import { FreeCount, type FreeLimits, repairTimes, whyNoFreeWrites } from './free-writes.ts'
import { whyStopped } from './stopped.ts'
import { assertNoHeldMoneyTaken } from './store/held-money-guard.ts'
import { isKnown } from './store/known.ts'
import { load, loadCalls } from './store/load.ts'
import { writeBack } from './store/write.ts'
import { forgetHold, trackedRows } from './tracked-rows.ts'
import { type Posted, type TrackedRows, UnitOfWork } from './unit-of-work.ts'

/** The only way money moves. Concurrent commands share one transaction and one fsync. */
export type Ledger = {
  /**
   * Returns what `decide` returned, after the COMMIT; of a hold in memory at once.
   * @throws Refusal of `decide`; StorageFault when nothing was stored, or with `doubt`.
   */
  post<T>(command: Command<T>): Promise<T>
}

/** On a server, batches that wait for the locks of other nodes leave room for a few more. */
const alone: BatchLimits = { quick: 1, most: 1 }
const amongNodes: BatchLimits = { quick: 2, most: 8 }

type Waiting = {
  command: Command<unknown>
  done: (value: never) => void
  failed: (error: unknown) => void
}
type Outcome = { value: unknown } | { refusal: Refusal }

/**
 * Gives ended runs their place in the log inside their transaction, where a single process writes.
 * Elsewhere the sequencer numbers them afterwards, under its lease. Absent in commands, which may
 * run beside a server.
 */
export type Numbering = { number(q: Query, ended: EndedRun[]): Work<unknown>; forget(): void }

/**
 * Finds those of these accounts that belong to another shard, and how their commands are refused.
 * The answer holds until the transaction ends.
 */
export type Misplaced = (q: Query, accounts: Set<string>) => Work<ReadonlyMap<string, Refusal>>

export function openLedger(
  db: Db,
  clock: Pick<Clock, 'now'>,
  numbering?: Numbering,
  tell?: (posted: Posted) => void,
  misplaced?: Misplaced,
  free?: FreeLimits,
): Ledger {
  const memory = db.exclusive ? remember() : undefined
  const distrust = (): void => {
    memory?.forget()
    numbering?.forget()
  }
  db.onForeignWrite(distrust)
  /** In the turn of the COMMIT: no hold comes between it and this. */
  const leaveMemory = ({ added }: TrackedRows): void => {
    if (db.open.size === 0) return
    for (const { id } of added.ended) db.open.remove(id)
    for (const { id } of added.runs) db.open.remove(id)
  }

  const whyUnpaid = (
    { account, run, below, isExempt, isRepair }: Command<unknown>,
    { accounts }: TrackedRows,
    { now }: UnitOfWork,
  ): Refusal | undefined => {
    if (!free || isExempt || (run ?? below) !== undefined) return undefined
    return whyNoFreeWrites(free, accounts.get(account), now, isRepair ? repairTimes : 1)
  }

  function* postAll(q: Query, batch: Waiting[], tracked: TrackedRows): Work<Outcome[]> {
    try {
      const commands = batch.map((waiting) => waiting.command)
      const unit = new UnitOfWork(tracked, clock.now())
      const opened = memory ? none : openedBy(commands)
      const refused = misplaced && opened.size > 0 ? yield* misplaced(q, opened) : undefined
      const why = ({ account, to = account }: Command<unknown>) =>
        refused?.get(account) ?? refused?.get(to)
      const ours = refused?.size ? commands.filter((command) => !why(command)) : commands
      const isRead = !memory || !isKnown(db.open, tracked, ours, unit.now)
      if (isRead) yield* load(q, db, tracked, ours, unit.now)
      else
        for (const { call } of ours) if (call) yield* loadCalls(db.tables, db.open, tracked, [call])
      const outcomes = commands.map((command): Outcome => {
        const refusal =
          why(command) ?? whyStopped(command, tracked.accounts) ?? whyUnpaid(command, tracked, unit)
        return refusal ? { refusal } : decide(command, unit, free && FreeCount.of(tracked, command))
      })
      const { ended } = tracked.added
      if (numbering && ended.length > 0) yield* numbering.number(q, ended)
      if (!numbering) yield* assertNoHeldMoneyTaken(q, db, tracked, unit.now)
      yield* writeBack(q, db, tracked, unit.now)
      return outcomes
    } catch (error) {
      // At once: another write of this transaction may use the same rows or the log.
      distrust()
      throw error
    }
  }

  const run = async (take: () => Waiting[]): Promise<void> => {
    let batch: Waiting[] | undefined
    let tracked: TrackedRows | undefined
    let isStored = false
    try {
      const work = (q: Query): Work<Outcome[]> => {
        batch ??= take()
        tracked = trackedRows(memory)
        return postAll(q, batch, tracked)
      }
      const outcomes = await db.write(work, (stored) => {
        isStored = stored
        if (stored && tracked) leaveMemory(tracked)
        memory?.trim()
        return batch?.every(({ command }) => command.isHold) !== true
      })
      for (const [i, outcome] of outcomes.entries()) answer(batch?.[i], outcome)
    } catch (error) {
      const all = batch ?? take()
      if (all.length > 1 && isOneCommandsFault(error)) {
        // A broken command must not fail the others: each gets a batch of its own.
        for (const waiting of all) await run(() => [waiting])
      } else for (const waiting of all) waiting.failed(error)
    }
    // A listener's error must not run the batch again.
    if (isStored && tracked) tell?.(tracked)
  }

  const queue = makeBatchQueue(db.exclusive ? alone : amongNodes, run)
  const openNow = <T>(command: Command<T>, tracked: TrackedRows, unit: UnitOfWork): T => {
    try {
      const value = command.decide(unit)
      const [run] = tracked.added.runs
      if (run) db.open.add(run, tracked.added.calls[0])
      return value
    } catch (error) {
      if (!(error instanceof Refusal)) distrust()
      throw error
    }
  }

  /** Used again by each hold of known rows: to make them costs more than to decide. */
  const ofHolds = trackedRows(memory)
  const holding = new UnitOfWork(ofHolds, 0)

  const holdKnown = <T>(command: Command<T>): Promise<T> => {
    try {
      return Promise.resolve(openNow(command, ofHolds, holding))
    } catch (error) {
      return Promise.reject(error)
    } finally {
      forgetHold(ofHolds)
    }
  }

  /** Reads its call alone, without a turn of the event loop in between. */
  const holdOnce = <T>(command: Command<T>, call: string): Promise<T> =>
    db.read(function* () {
      try {
        yield* loadCalls(db.tables, db.open, ofHolds, [call])
        return openNow(command, ofHolds, holding)
      } finally {
        forgetHold(ofHolds)
      }
    })

  const holdNow = <T>(command: Command<T>): Promise<T> => {
    db.noticeForeign()
    const now = clock.now()
    if (isKnown(db.open, ofHolds, [command], now)) {
      holding.now = now
      return command.call === undefined ? holdKnown(command) : holdOnce(command, command.call)
    }
    return db.read(function* (q) {
      memory?.trim()
      const tracked = trackedRows(memory)
      yield* load(q, db, tracked, [command], now)
      return openNow(command, tracked, new UnitOfWork(tracked, now))
    })
  }

  return {
    post(command) {
      // Storage that takes nothing refuses a run before its model server is called.
      if (command.isHold && memory && !db.storage?.trouble()) return holdNow(command)
      return new Promise((done, failed) => queue.add({ command, done, failed } as Waiting))
    },
  }
}

const none: Set<string> = new Set()

/** The accounts that these commands open if they are not there. */
const openedBy = (commands: readonly Command<unknown>[]): Set<string> =>
  new Set(commands.flatMap(({ opens, account, to = account }) => (opens ? [account, to] : [])))

function decide(command: Command<unknown>, unit: UnitOfWork, count?: FreeCount): Outcome {
  try {
    const value = command.decide(unit)
    count?.note(unit.now)
    return { value }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

function answer(waiting: Waiting | undefined, outcome: Outcome): void {
  if ('refusal' in outcome) waiting?.failed(outcome.refusal)
  else waiting?.done(outcome.value as never)
}
