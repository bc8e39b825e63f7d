import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logNoteSigner, noteSigner } from '../../../src/proof/signer/ed25519.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { parseNote, parseVkey, verifyNote } from '../../../src/verify/signed-note.ts'
import { freshDb, testPrivateKey } from '../../support/world.ts'
import { type Service, serviceOn } from './service.ts'

describe('the note key of a log', () => {
  let opened: Awaited<ReturnType<typeof freshDb>>
  let service: Service
  beforeAll(async () => {
    opened = await freshDb('sqlite')
  })
  afterAll(async () => {
    await service.stop()
    await opened.db.close()
    await opened.drop()
  })

  test('follows from the signer, stays the same after a restart, and signs the checkpoint', async () => {
    const signer = signerFromHex(testPrivateKey)
    service = await serviceOn(opened.db, signer)
    await service.receipt()
    const { note_key: first, log } = await service.call('/v1/signer')
    const { secret } = service
    await service.stop()
    service = await serviceOn(opened.db, signer, secret)
    const again = await service.call('/v1/signer')
    expect([again.note_key, log.prefix]).toEqual([first, '/log'])
    const key = parseVkey(first)
    const note = parseNote(await (await fetch(`${originOf(service)}/log/checkpoint`)).text())
    if (!key || !note) throw new Error('unreadable')
    expect(key.publicKey).toEqual(logNoteSigner(signer).publicKey)
    expect(verifyNote(note, [key]).signed.length).toBe(1)
  })

  test('is another for another signer, and tells nothing about it', () => {
    const one = logNoteSigner(signerFromHex('1'.repeat(64)))
    const two = logNoteSigner(signerFromHex('2'.repeat(64)))
    expect(one.publicKey).not.toEqual(two.publicKey)
    expect(Object.isFrozen(one)).toBe(true)
    expect(Bun.inspect(one)).not.toContain('1'.repeat(16))
    expect(() => noteSigner(new Uint8Array(31))).toThrow('32 bytes')
  })
})

const originOf = ({ deps }: Service) => `http://localhost:${deps.settings.listen.port}`
