import { expect, test } from 'bun:test'
import {
  type Replication,
  readReplication,
  replicationFault,
} from '../../../src/storage/db/engine/replication.ts'
import { writeFact } from '../../../src/storage/db/sql/facts.ts'
import { promise } from '../../support/promise.ts'
import { engines, freshDb } from '../../support/world.ts'

const alone: Replication = { standbys: 0, commit: 'on', names: '', syncs: true }

test('a server that syncs and has no standby, or waits for one, keeps what it acknowledged', () => {
  const waiting = { ...alone, standbys: 1, names: 'standby' }
  for (const found of [alone, waiting, { ...waiting, commit: 'remote_apply' }]) {
    expect(replicationFault(found)).toBeUndefined()
  }
})

promise`N4`
test('each way to lose an acknowledged COMMIT is named', () => {
  const ways: [Partial<Replication>, RegExp][] = [
    [{ syncs: false }, /^fsync is off/],
    [{ commit: 'off' }, /^synchronous_commit is off/],
    [{ standbys: 1 }, /^a standby follows asynchronously/],
    [{ standbys: 1, names: 'standby', commit: 'local' }, /^a standby follows asynchronously/],
  ]
  for (const [found, words] of ways) expect(replicationFault({ ...alone, ...found })).toMatch(words)
})

for (const engine of engines) {
  test(`what a server on ${engine} says of itself is read`, async () => {
    const { db, drop } = await freshDb(engine)
    try {
      // It is asked beside any row of the database, which every served one has.
      await db.write(() => writeFact(db, 'test', ''))
      const found = await readReplication(db)
      if (engine === 'sqlite') expect(found).toBeUndefined()
      else expect(found).toMatchObject({ standbys: 0, commit: expect.any(String), names: '' })
    } finally {
      await db.close()
      await drop()
    }
  })
}
