import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { plain } from './paid.ts'
import { interleave, type Pace } from './rounds.ts'
import { middle, type Row } from './table.ts'
import { type Running, startCounterfoil } from './targets.ts'

/** A folder that is memory: nothing in it outlives the machine, and a sync costs nothing. */
const memoryFolder = '/dev/shm'

/**
 * The same binary twice, once with its database where nothing lasts. The product has no setting
 * that turns persistence off, so no one can leave it off.
 */
export async function measureDurable(
  stub: Running,
  gateway: Running,
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const quantity = 'durable runs a second against the same server with its database in memory'
  if (!existsSync(memoryFolder)) return [{ quantity, measured: `there is no ${memoryFolder}` }]
  const data = mkdtempSync(join(memoryFolder, 'counterfoil-bench-'))
  const forgetful = await startCounterfoil(stub, { name: 'in memory', folder, data })
  try {
    const results = await interleave('paid runs, 64 at once, durable and not', {
      targets: [forgetful, gateway],
      load: plain(64, seconds),
      rounds,
    })
    const kept = results.get(gateway) ?? []
    const lost = results.get(forgetful) ?? []
    const shares = kept.map((result, i) => result.perSecond / (lost[i]?.perSecond ?? Number.NaN))
    return [{ quantity, measured: middle(shares), gate: ['≥', 0.7] }]
  } finally {
    await forgetful.process.stop()
    rmSync(data, { recursive: true, force: true })
  }
}
