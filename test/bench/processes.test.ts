/** The counters of a process that the measurements read. */
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageOf } from '../../bench/processes.ts'

test.if(process.platform === 'linux')('What a process writes is counted for it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-usage-'))
  const before = usageOf(process.pid)
  const bytes = 300_000
  writeFileSync(join(folder, 'file'), Buffer.alloc(bytes, 1))
  const after = usageOf(process.pid)
  rmSync(folder, { recursive: true })
  expect(after.passedBytes - before.passedBytes).toBeGreaterThanOrEqual(bytes)
  expect(after.cpuUs).toBeGreaterThan(0)
  expect(after.peakMiB).toBeGreaterThanOrEqual(1)
})
