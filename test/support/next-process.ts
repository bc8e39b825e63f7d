import type { Database } from 'bun:sqlite'
import { makeDeps } from '../../src/app/wiring.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { openSqlite } from '../../src/storage/db/engine/sqlite.ts'
import { configOf, testPrivateKey, type World } from './world.ts'

/**
 * Opens the SQLite file of a process that died, as the next process does, and counts the runs that
 * this start ends. The world before it counts as dead: it is never closed.
 */
export async function nextProcess(w: World, toml: string) {
  const { raw } = w.db as unknown as { raw: Database }
  const db = openSqlite(raw.filename)
  const quiet = () => {}
  const deps = await makeDeps({
    config: configOf(toml),
    db,
    signer: signerFromHex(testPrivateKey),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    clock: w.deps.clock,
  })
  return { db, deps, ended: await endAbandoned(deps) }
}
