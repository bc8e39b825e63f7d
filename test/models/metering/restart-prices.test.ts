import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileText, makeFixture } from '../../../scripts/fixture.ts'
import { openDatabase } from '../../../src/app/open-database.ts'
import { type RunningService, startServer } from '../../../src/app/start.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { promise } from '../../support/promise.ts'
import { testPrivateKey } from '../../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-restart-prices-'))
let until = 0

/** Starts a server on what another one left, with its configuration and more models. */
async function start(more = '') {
  const inputs = { flags: {}, env: {}, filePath: 'test.toml', readFile: () => undefined }
  const text = `data = "${folder}"\n${fileText}\n${more}`
  const loaded = loadConfig({ ...inputs, fileText: text })
  if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
  const config = { ...loaded.config, listen: { hostname: '127.0.0.1', port: 0 } }
  const ignore = () => {}
  const log = { debug: ignore, info: ignore, warn: ignore, error: console.error }
  const { db } = await openDatabase(config, { mayCreate: true })
  let now = until
  const clock = { now: () => now++, monotonic: () => performance.now() }
  const signer = signerFromHex(testPrivateKey)
  const running = await startServer({ config, db, signer, log, clock })
  const { priceLists } = db.tables
  const lists = await db.read((q) => rows(q.select().from(priceLists)))
  return { running, lists }
}

let running: RunningService | undefined
beforeAll(async () => {
  const base = join(folder, 'left')
  await makeFixture(base)
  until = JSON.parse(readFileSync(`${base}.json`, 'utf8')).until
  const raw = new Database(join(folder, 'counterfoil.db'))
  raw.run(readFileSync(`${base}.sql`, 'utf8'))
  raw.close()
}, 60_000)
afterAll(async () => {
  await running?.stop(0)
  rmSync(folder, { recursive: true })
})

promise`O3`
test('Plain prices keep version and digest over a restart; a rate more makes a new version.', async () => {
  const before = await start()
  running = before.running
  const { priceList } = running.deps.catalogue
  expect(before.lists).toHaveLength(1)
  expect(before.lists[0]).toMatchObject(priceList)
  expect(priceList).toEqual({
    ...{ id: 'default', version: 1 },
    digest: '21073e41a1741512535a1f961d66bb1447bbce89764d2fc315b0c536b9357945',
  })
  await running.stop(0)

  // The last model of the file gets a rate for its cache.
  const after = await start('cache_read_pusd = 15_000')
  running = after.running
  expect(running.deps.catalogue.priceList.version).toBe(2)
  expect(after.lists.map(({ version }) => version)).toEqual([1, 2])
  expect(after.lists.every(({ logPlace }) => logPlace !== null)).toBe(true)
  expect(after.lists[1]?.content).toContain('"cache_read_pusd":"15000"')
}, 60_000)
