/** Posts commands to the ledger in batches: load, decide, write, in one transaction. */

import type { Clock } from '../kernel/clock.ts'
import { Refusal } from '../kernel/refusal.ts'
import type { Db } from '../storage/db/db.ts'
import { remember } from '../storage/db/memory.ts'
import type { Query, Work } from '../storage/db/query-steps.ts'
import type { RunRow } from '../storage/db/schema.ts'
import { keepTexts } from '../storage/texts/store.ts'
import { type BatchLimits, makeBatchQueue } from './batch-queue.ts'
import type { Command } from './command.ts'
import { isOneCommandsFault } from './fault.ts'
import { load } from './store/load.ts'
import { writeBack } from './store/write.ts'
import {
  makeUnitOfWork,
  type Posted,
  type TrackedRows,
  trackedRows,
  type UnitOfWork,
} from './unit-of-work.ts'

/** The only way money moves. Concurrent commands share one transaction and one fsync. */
export type Ledger = {
  /**
   * Returns what `decide` returned, after the COMMIT.
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
 * Elsewhere the sequencer numbers them afterwards, under its lease.
 */
export type Numbering = { number(q: Query, ended: RunRow[]): Work<void>; forget(): void }

export function openLedger(
  db: Db,
  clock: Pick<Clock, 'now'>,
  numbering?: Numbering,
  tell?: (posted: Posted) => void,
): Ledger {
  const memory = db.exclusive ? remember() : undefined
  const distrust = (): void => {
    memory?.forget()
    numbering?.forget()
  }
  db.onForeignWrite(distrust)

  function* postAll(
    q: Query,
    batch: Waiting[],
  ): Work<{ outcomes: Outcome[]; tracked: TrackedRows }> {
    const tracked = trackedRows()
    try {
      const commands = batch.map((waiting) => waiting.command)
      const unit = makeUnitOfWork(tracked, clock.now())
      yield* load(q, db.tables, tracked, commands, unit.now, memory)
      const outcomes = commands.map((command) => decide(command, unit))
      const ended = [...tracked.written.runs].filter((run) => run.finishedAt !== null)
      if (numbering && ended.length > 0) yield* numbering.number(q, ended)
      yield* writeBack(q, db.tables, tracked)
      yield* keepTexts(q, db.tables, tracked.added.texts, unit.now)
      memory?.keep(tracked)
      return { outcomes, tracked }
    } catch (error) {
      // The rows were changed in place, and the savepoint took the changes back.
      distrust()
      throw error
    }
  }

  const run = async (take: () => Waiting[]): Promise<void> => {
    let batch: Waiting[] | undefined
    let posted: Posted | undefined
    try {
      const { outcomes, tracked } = await db.write((q) => {
        batch ??= take()
        return postAll(q, batch)
      })
      posted = tracked
      for (const [i, outcome] of outcomes.entries()) answer(batch?.[i], outcome)
    } catch (error) {
      const all = batch ?? take()
      if (all.length > 1 && isOneCommandsFault(error)) {
        // A broken command must not fail the others: each gets a batch of its own.
        for (const waiting of all) await run(() => [waiting])
      } else for (const waiting of all) waiting.failed(error)
    }
    // A listener's error must not run the batch again.
    if (posted) tell?.(posted)
  }

  const queue = makeBatchQueue(db.exclusive ? alone : amongNodes, run)
  return {
    post: (command) =>
      new Promise((done, failed) => queue.add({ command, done, failed } as Waiting)),
  }
}

function decide(command: Command<unknown>, unit: UnitOfWork): Outcome {
  try {
    return { value: command.decide(unit) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

function answer(waiting: Waiting | undefined, outcome: Outcome): void {
  if ('refusal' in outcome) waiting?.failed(outcome.refusal)
  else waiting?.done(outcome.value as never)
}
