import type { Database } from 'bun:sqlite'
import { makeDeps } from '../../src/app/wiring.ts'
import { signerFromHex } from '../../src/proof/signer/signer.ts'
import { endAbandoned } from '../../src/runs/end-abandoned.ts'
import { openSqlite } from '../../src/storage/db/engine/sqlite.ts'
import { configOf, testPrivateKey, type World } from './world.ts'

/**
 * What the next process makes of a SQLite file whose process died without a word, with the number of
 * runs that it ends at its start. The world of before counts as dead: nothing of it was closed.
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
