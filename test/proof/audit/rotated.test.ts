import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemRandom } from '../../../src/kernel/random.ts'
import { auditService } from '../../../src/proof/audit/audit.ts'
import { revokeSigner, rotateSigner } from '../../../src/proof/signer/rotate.ts'
import { openSigner } from '../../../src/proof/signer/signer.ts'
import { parseNote, parseVkey, verifyNote } from '../../../src/verify/signed-note.ts'
import { freshDb } from '../../support/world.ts'
import { keyFolder, type Service, serviceOn } from '../signer/service.ts'

test('the audit of a real server holds across a rotation and a revocation', async () => {
  const { db, drop } = await freshDb('sqlite')
  const { folder, drop: dropKeys } = keyFolder()
  const file = join(folder, 'signer.key')
  const open = () => openSigner({ keyFile: file, random: systemRandom() })
  const wish = { reason: 'planned', source: { kind: 'data', file } as const, data: folder }
  let service: Service = await serviceOn(db, open())
  const audited = async () => {
    const files = { open: (prefix: string) => service.open(prefix), keys: [], papers: [] }
    const report = await auditService({ service: { get: (path) => service.call(path) }, files })
    const wrong = report.checks.filter(({ status }) => status !== 'pass' && status !== 'skip')
    return { wrong, told: report.checks.map(({ reason }) => reason).join(' '), ...report }
  }
  try {
    await service.receipt()
    const first = await audited()
    expect([first.wrong, first.holds]).toEqual([[], true])
    const kept = new TextDecoder().decode(await service.open('/log')('checkpoint'))

    await service.stop()
    await rotateSigner({ ...service.deps, db }, wish, open())
    service = await serviceOn(db, open(), service.secret)
    await service.receipt()
    const rotated = await audited()
    expect([rotated.wrong, rotated.holds]).toEqual([[], true])
    expect(rotated.told).toContain('1 rotation, each signed by the key before.')
    // A head that was kept from before is signed by the key that the service names as previous.
    const { note_key: now, previous } = await service.call('/v1/signer')
    const note = parseNote(kept)
    const signedBy = (vkey: string) => {
      const key = parseVkey(vkey)
      return note && key ? verifyNote(note, [key]).signed.length : undefined
    }
    expect([signedBy(now), signedBy(previous[0].note_key)]).toEqual([0, 1])

    const { proof } = await service.receipt()
    await service.stop()
    const fromIndex = Number(proof.index)
    await revokeSigner({ ...service.deps, db }, { ...wish, fromIndex }, open())
    service = await serviceOn(db, open(), service.secret)
    const revoked = await audited()
    expect([revoked.wrong, revoked.holds]).toEqual([[], true])
    expect(revoked.told).toContain('2 rotations, each signed by the key before.')
    // An auditor who was there before finds the same log.
    const remembered = first.checkpoint ?? undefined
    const again = await auditService({
      service: { get: (path) => service.call(path) },
      ...(remembered && { remembered }),
    })
    expect(again.checks.find(({ name }) => name === 'remembered')?.status).toBe('pass')
  } finally {
    await service.stop()
    await db.close()
    await drop()
    dropKeys()
  }
}, 60_000)
