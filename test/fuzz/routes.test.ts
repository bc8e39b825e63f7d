import { describe, expect, test } from 'bun:test'
import { nightly } from '../support/nightly.ts'
import { promise } from '../support/promise.ts'
import type { Engine } from '../support/world.ts'
import { testBounds } from './run.ts'
import { startService } from './service.ts'
import { tryRoutes } from './try-routes.ts'

const seed = 4663
/** The first picture starts the thread that draws, which takes a second on a busy machine. */
const bounds = { ...testBounds, mostMs: 2500 }
const efforts: [engine: Engine, inputs: number][] = [['sqlite', nightly(800, 8000)]]
// What SQLite stores PostgreSQL may refuse, a zero byte for one.
if (process.env['TEST_DATABASE_URL']) efforts.push(['postgres', nightly(500, 5000)])

promise`C10`
describe('every route, no matter what is sent to it', () => {
  test.each(efforts)(
    'on %s: no 5xx, the one error body, no secret, and money moves only where nothing is refused',
    async (engine, inputs) => {
      const service = await startService(engine)
      expect(service.routes.length).toBeGreaterThan(150)
      const { faults } = await tryRoutes(service, seed, { inputs }, bounds)
      await service.stop()
      expect(faults).toEqual([])
    },
    nightly(120_000, 900_000),
  )
})
