import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemRandom } from '../../../src/kernel/random.ts'
import { bindKey } from '../../../src/proof/passports/bind.ts'
import { createPassport } from '../../../src/proof/passports/create.ts'
import { issueStatement } from '../../../src/proof/passports/issue.ts'
import { publishPassport } from '../../../src/proof/passports/publish.ts'
import { failuresOf, type StatementFile } from '../../../src/proof/passports/statement.ts'
import { revokeSigner, rotateSigner } from '../../../src/proof/signer/rotate.ts'
import { openSigner } from '../../../src/proof/signer/signer.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { freshDb, testAccount } from '../../support/world.ts'
import { keyFolder, type Service, serviceOn } from '../signer/service.ts'

const actor = testAccount
const { folder, drop } = keyFolder()
const file = join(folder, 'signer.key')
const wish = { reason: 'planned', source: { kind: 'data', file } as const, data: folder }
const open = () => openSigner({ keyFile: file, random: systemRandom() })

let db: Db
let close: () => Promise<void>
let service: Service
beforeAll(async () => {
  const fresh = await freshDb('sqlite')
  db = fresh.db
  close = fresh.drop
  service = await serviceOn(db, open())
})
afterAll(async () => {
  await service.stop()
  await db.close()
  await close()
  drop()
})

const issue = async () => {
  await service.receipt()
  await receiptCounter(service.deps)()
  const passport = await service.deps.passports.find('long-lived')
  if (!passport) throw new Error('there is no passport')
  await issueStatement(service.deps, { passport, actor })
}
const statement = (): Promise<StatementFile> => service.call('/passports/long-lived/statement')
const trusted = () =>
  service.deps.signers.all.map(({ address, fromIndex, untilIndex }) => ({
    address,
    fromIndex: BigInt(fromIndex),
    untilIndex: untilIndex === null ? null : BigInt(untilIndex),
  }))

test('A statement survives a rotation of its signer and is signed again after a revocation.', async () => {
  const wished = { account: actor, handle: 'long-lived', displayName: 'x', kind: 'agent' as const }
  const passport = await createPassport(service.deps, wished)
  await publishPassport(service.deps, { passport, actor })
  const { id: keyId } = await service.call('/v1/keys/self')
  await bindKey(service.deps, { passport, keyId, actor })
  await issue()
  const first = open().address
  expect([(await statement()).signer, failuresOf(await statement(), trusted())]).toEqual([
    first,
    [],
  ])

  await service.stop()
  const turned = await rotateSigner({ ...service.deps, db }, wish, open())
  service = await serviceOn(db, open(), service.secret)
  expect([(await statement()).signer, failuresOf(await statement(), trusted())]).toEqual([
    first,
    [],
  ])

  await issue()
  const stolen = await statement()
  expect(stolen.signer).toBe(turned.next)
  const thief = open()
  await service.stop()
  const fromIndex = Number(stolen.log_index)
  const taken = await revokeSigner({ ...service.deps, db }, { ...wish, fromIndex }, thief)
  service = await serviceOn(db, open(), service.secret)
  const again = await statement()
  expect([again.signer, again.digest]).toEqual([taken.next, stolen.digest])
  expect(failuresOf(again, trusted())).toEqual([])
  expect(failuresOf({ ...again, signature: stolen.signature }, trusted())).toContain('signer')
})
