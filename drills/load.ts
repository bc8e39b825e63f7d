/** Runs of every sort at once. */
import type { Server } from '../test/support/binary.ts'
import { type Asked, type Asker, ask, type Wish } from './asked.ts'

const sorts: Omit<Wish, 'model'>[] = [
  { door: 'chat', how: 'plain', keyed: false },
  { door: 'chat', how: 'stream', keyed: false },
  { door: 'runs', how: 'plain', keyed: true },
  { door: 'runs', how: 'background', keyed: false },
  { door: 'chat', how: 'stream', keyed: true },
  { door: 'runs', how: 'stream', keyed: false },
  { door: 'chat', how: 'plain', keyed: true },
  { door: 'runs', how: 'background', keyed: true },
]

/** How {@link load} asks the n-th time. */
export const sortOf = (turn: number): Omit<Wish, 'model'> => sorts[turn % sorts.length] ?? usual
const usual = { door: 'chat', how: 'plain', keyed: false } as const

const modelOf = (turn: number): string =>
  ['stub/pace-5', 'stub/pace-50', 'stub/pace-300', 'stub/pace-50'][turn % 4] ?? ''

const workers = 24

/**
 * Plain, streamed and background runs, with and without an Idempotency-Key, of models that answer
 * within 5 to 300 ms, until the server is gone or `end` resolves.
 */
export async function load(
  asker: Asker,
  server: Server,
  end: Promise<unknown> = new Promise(() => undefined),
): Promise<Asked[]> {
  let isOver = false
  void end.then(() => {
    isOver = true
  })
  const all: Asked[] = []
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let turn = worker; !isOver; turn++) {
        // Sorts and models have no common period.
        const model = modelOf(turn + Math.floor(turn / 8))
        const asked = await ask(asker, server, { ...sortOf(turn), model })
        all.push(asked)
        if (asked.status === 0) return
        if (asked.status === 503) await Bun.sleep(100)
      }
    }),
  )
  return all
}
