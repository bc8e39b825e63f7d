import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex, toHex } from '../../../src/kernel/hex.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { revokeSigner, rotateSigner } from '../../../src/proof/signer/rotate.ts'
import { openSigner, type Signer } from '../../../src/proof/signer/signer.ts'
import { openSource } from '../../../src/proof/signer/source.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import { structDigest } from '../../../src/verify/eip712.ts'
import { recoverSigner } from '../../../src/verify/signature.ts'
import { outcomeOf } from '../../support/rejection.ts'
import { engines, freshDb } from '../../support/world.ts'
import { failed, keyFolder, type Service, serviceOn } from './service.ts'

const random = systemRandom()

for (const engine of engines) {
  describe(`the signer's life on ${engine}`, () => {
    let db: Db
    let close: () => Promise<void>
    let service: Service
    const { folder, drop } = keyFolder()
    const file = join(folder, 'signer.key')
    const source = { kind: 'data', file } as const
    const wish = { reason: 'planned', source, data: folder }
    const open = () => openSigner({ keyFile: file, random })

    beforeAll(async () => {
      const fresh = await freshDb(engine)
      db = fresh.db
      close = async () => {
        await db.close()
        await fresh.drop()
        drop()
      }
      service = await serviceOn(db, open())
    }, 30_000)
    afterAll(async () => {
      await service.stop()
      await close()
    })

    const rotate = async () => {
      await service.stop()
      const old = open()
      const turned = await rotateSigner({ ...service.deps, db }, wish, old)
      service = await serviceOn(db, open(), service.secret)
      return { old, turned }
    }
    const signedBy = ({ signature, digest }: { signature: string; digest: string }) => {
      const recovered = recoverSigner(fromHex(digest), signature)
      return recovered.ok ? recovered.address : undefined
    }
    const withSignatureOf = (file: { digest: string }, signer: Signer) => ({
      ...file,
      signature: toHex(signer.sign(fromHex(file.digest))),
    })

    test('a rotation ends one key at an index and begins another there', async () => {
      const before = await service.receipt()
      // Left for the rotation: no one read it, so no one signed it.
      await service.call('/v1/runs', { model: 'counterfoil/echo-1', input: 'unread' })
      const { old, turned } = await rotate()
      expect(turned.fromIndex).toBe(turned.logIndex + 1)
      const after = await service.receipt()
      expect([signedBy(before), signedBy(after)]).toEqual([turned.previous, turned.next])
      expect(Number(after.proof.index)).toBe(turned.fromIndex)
      for (const file of [before, after]) {
        const verdict = await service.verify(file)
        expect([failed(verdict), verdict.level]).toEqual([[], 'logged'])
      }
      // Each key outside its range, in both directions, with a signature that is good as such.
      for (const forged of [withSignatureOf(before, open()), withSignatureOf(after, old)]) {
        expect(failed(await service.verify(forged))).toContain('signer_authorized')
      }
      const { data } = await service.call('/v1/receipts')
      const unread = data.find((one: { log_index: number }) => one.log_index < turned.logIndex)
      expect(signedBy(unread)).toBe(old.address)
    })

    test('the file of a receipt from before keeps holding, also under a later checkpoint', async () => {
      const before = await service.receipt()
      const { turned } = await rotate()
      expect((await service.verify(before)).level).toBe('logged')
      // Without a new receipt the head is the rotation itself, signed by the key that it ended.
      const atOnce = await service.call(`/v1/receipts/${before.receipt.id}`)
      expect((await service.verify(atOnce)).level).toBe('logged')
      await service.receipt()
      const later = await service.call(`/v1/receipts/${before.receipt.id}`)
      expect((await service.verify(later)).level).toBe('logged')
      expect(later.signature).toBe(before.signature)
      expect(signedBy(later)).toBe(turned.previous)
    })

    test('GET /v1/signer tells all keys, their ranges, and the statements between', async () => {
      const told = await service.call('/v1/signer')
      expect(told.address).toBe(open().address)
      expect(told.log.origin).toBe(told.issuer)
      expect(told.token).toMatch(/^0x[0-9a-fA-F]{40}$/)
      expect([told.registry, told.treasury, told.max_anchor_delay_s]).toEqual([null, null, 600])
      expect(told.previous.length).toBe(2)
      let from = 0
      for (const one of told.previous) {
        expect(one.from_index).toBe(from)
        from = one.until_index
        const { signature, log_index, ...statement } = one.rotation
        expect([statement.previous, statement.fromIndex]).toEqual([one.address, from])
        expect(log_index).toBe(from - 1)
        const digest = structDigest('SignerRotation', statement)
        expect(recoverSigner(digest, signature)).toEqual({ ok: true, address: one.address })
      }
      expect(told.from_index).toBe(from)
    })

    test('a retired key cannot start a server, and cannot come back', async () => {
      const retired = (await rotate()).old
      await service.stop()
      expect(await outcomeOf(serviceOn(db, retired))).toThrow(
        `were signed by ${open().address}, but the signer key here belongs to ${retired.address}`,
      )
      const nextKeyFile = join(folder, `signer-${retired.address}.key`)
      expect(statSync(nextKeyFile).mode & 0o777).toBe(0o600)
      const back = rotateSigner({ ...service.deps, db }, { ...wish, nextKeyFile }, open())
      expect(await outcomeOf(back)).toThrow('signed before and cannot be used again')
      service = await serviceOn(db, open(), service.secret)
    })

    test('a rotation that died before its files were moved is finished by the next start', async () => {
      const before = await service.receipt()
      const { old, turned } = await rotate()
      const [next, kept] = [join(folder, 'signer.next.key'), String(turned.oldKeyFile)]
      const text = await Bun.file(file).text()
      const oldText = await Bun.file(kept).text()
      const put = (path: string, words: string) => writeFileSync(path, words, { mode: 0o600 })
      // Nothing moved yet; then only the old key was.
      for (const isHalf of [false, true]) {
        put(next, text)
        if (isHalf) await Bun.file(file).delete()
        else put(file, oldText)
        const opened = openSource(source, turned.next, random)
        expect([opened.address, open().address]).toEqual([turned.next, turned.next])
        expect(existsSync(next)).toBe(false)
        expect(await Bun.file(kept).text()).toBe(oldText)
      }
      // And one that died before the database knew of it changes nothing.
      openSigner({ keyFile: next, random })
      expect(openSource(source, turned.next, random).address).toBe(turned.next)
      expect(existsSync(next)).toBe(true)
      expect(old.address).not.toBe(turned.next)
      expect((await service.verify(before)).valid).toBe(true)
    })

    test('a revocation takes everything from an index on from a key, and no proof is lost', async () => {
      const safe = await service.receipt()
      const stolen = await service.receipt()
      await service.receipt()
      const thief = open()
      await service.stop()
      const index = Number(stolen.proof.index)
      const size = Number(stolen.proof.size)
      const { current } = service.deps.signers
      const revoke = (fromIndex: number) =>
        revokeSigner({ ...service.deps, db }, { ...wish, fromIndex }, thief)
      const most = await service.deps.logStore.size()
      for (const wrong of [0, current.fromIndex, most + 1]) {
        const range = `between ${current.fromIndex + 1} and ${most}`
        expect(await outcomeOf(revoke(wrong))).toThrow(range)
      }
      const turned = await revoke(index)
      service = await serviceOn(db, open(), service.secret)
      expect(turned.fromIndex).toBe(index)
      expect((await service.verify(safe)).checks.find((c) => c.name === 'signature')?.status).toBe(
        'pass',
      )
      expect(failed(await service.verify(stolen))).toContain('signer_authorized')
      const again = await service.call(`/v1/receipts/${stolen.receipt.id}`)
      expect([signedBy(again), again.digest]).toEqual([turned.next, stolen.digest])
      const check = async () => {
        const proof = await service.call(`/v1/receipts/${stolen.receipt.id}/proof?size=${size}`)
        expect(proof.checkpoint.root).toBe(stolen.proof.checkpoint.root)
        expect(proof.checkpoint.signature).not.toBe(stolen.proof.checkpoint.signature)
        const verdict = await service.verify({ receipt: again, proof })
        expect([failed(verdict), verdict.level]).toEqual([[], 'logged'])
        const now = await service.call(`/v1/receipts/${safe.receipt.id}`)
        expect([(await service.verify(now)).level, signedBy(now)]).toEqual([
          'logged',
          thief.address,
        ])
      }
      await check()
      // The key that signed again may be retired too.
      await rotate()
      await check()
      await service.receipt()
      await check()
    })

    test('a revocation without the stolen key says so by having no signature of it', async () => {
      const lost = await service.receipt()
      await service.stop()
      const lostWish = { ...wish, reason: 'lost', fromIndex: Number(lost.proof.index) + 1 }
      await Bun.file(file).delete()
      const { previous } = await revokeSigner({ ...service.deps, db }, lostWish, undefined)
      service = await serviceOn(db, open(), service.secret)
      const told = (await service.call('/v1/signer')).previous.at(-1)
      expect([told.address, told.rotation.signature]).toEqual([previous, null])
      expect(told.rotation.reason).toBe('lost')
      expect((await service.verify(lost)).valid).toBe(true)
    })
  })
}
