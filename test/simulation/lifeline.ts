import type { Db } from '../../src/storage/db/engine/db.ts'

/**
 * What happens to a write of a process: it is killed before its COMMIT or right after it; or it
 * lives, and the write fails as on a full disk, or is done while its answer is lost.
 */
export type Mishap = 'killed before' | 'killed after' | 'refused' | 'lost'

export type Lifeline = ReturnType<typeof lifelineOf>

/** The database of one process, which can be cut off from it at any write. */
export function lifelineOf(db: Db) {
  let isDead = false
  let planned: { mishap: Mishap; after: number; done(): void } | undefined

  /** The mishap that this very write meets. */
  const due = (): Mishap | undefined => {
    if (!planned || planned.after-- > 0) return undefined
    const { mishap, done } = planned
    planned = undefined
    if (mishap === 'killed before') isDead = true
    if (mishap !== 'killed after') done()
    else lastly = done
    return mishap
  }
  let lastly = (): void => undefined

  const write: Db['write'] = async (work, ended) => {
    if (isDead) return never()
    const mishap = due()
    if (mishap === 'killed before') return never()
    if (mishap === 'refused') {
      ended?.(false)
      throw cut('SQLITE_FULL')
    }
    const value = await db.write(work, ended)
    if (mishap === 'killed after') {
      isDead = true
      lastly()
    }
    if (mishap === 'lost') throw cut('ECONNRESET')
    return isDead ? never() : value
  }
  return {
    db: {
      ...db,
      write,
      read: ((work) => (isDead ? never() : db.read(work))) as Db['read'],
      snapshot: ((work) => (isDead ? never() : db.snapshot(work))) as Db['snapshot'],
    } satisfies Db,
    /** Plans a mishap for the write after so many others; resolves when it happened. */
    plan: (mishap: Mishap, after = 0): Promise<void> =>
      new Promise((done) => {
        planned = { mishap, after, done }
      }),
    /** Whether what was planned did not happen. */
    calm(): boolean {
      const isLeft = planned !== undefined
      planned = undefined
      return isLeft
    },
    isCut: (): boolean => isDead,
    /** The process is gone: it never hears of anything again. */
    cut(): void {
      isDead = true
    },
  }
}

/** Makes a new promise each time: a shared one would keep everything that waits for it alive. */
const never = () => new Promise<never>(() => undefined)

const cut = (code: string): Error => Object.assign(new Error('the database is gone'), { code })
