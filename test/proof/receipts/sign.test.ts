import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { toHex } from '../../../src/kernel/hex.ts'
import { signReceipts } from '../../../src/proof/log/store/sign-receipts.ts'
import { runIdOf } from '../../../src/proof/receipts/receipt.ts'
import { backgroundSigner, signed } from '../../../src/proof/receipts/sign.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { engines, usd, type World, world } from '../../support/world.ts'

for (const engine of engines) {
  describe(`the background signer on ${engine}`, () => {
    let w: World
    let secret: string

    beforeAll(async () => {
      w = await world({ engine })
      secret = (await w.key({ balance: 10n * usd })).secret
    })
    afterAll(() => w.stop())

    /** Runs one, numbers it, and gives its id and its place. */
    const run = async (): Promise<{ id: string; place: number }> => {
      const json = { model: 'counterfoil/echo-1', input: 'hello' }
      const answer = await w.call('/v1/runs', { key: secret, json })
      const { receipt } = (await answer.json()) as { receipt: { id: string } }
      await w.deps.sequencer.flush()
      const found = await w.deps.runs.find(runIdOf(receipt.id))
      return { id: receipt.id, place: found?.logPlace ?? -1 }
    }
    const isSigned = async (id: string): Promise<boolean> => {
      const found = await w.deps.receipts.find(id)
      return found?.signature !== null
    }

    test('signs every receipt that is numbered, of later ones too', async () => {
      const sign = backgroundSigner(w.deps)
      const first = await run()
      await sign()
      expect(await isSigned(first.id)).toBe(true)
      const second = await run()
      await sign()
      expect(await isSigned(second.id)).toBe(true)
    })

    test('after a restart it goes on at the place that was noted', async () => {
      const before = await run()
      const after = await run()
      await w.deps.receipts.noteSignedUpTo(after.place)
      await backgroundSigner(w.deps)()
      expect(await isSigned(before.id)).toBe(false)
      expect(await isSigned(after.id)).toBe(true)
      await w.deps.receipts.noteSignedUpTo(before.place)
      await backgroundSigner(w.deps)()
      expect(await isSigned(before.id)).toBe(true)
    })

    describe('signatures of neighbours', () => {
      const made: { id: string; place: number }[] = []
      beforeAll(async () => {
        for (let i = 0; i < 40; i++) made.push(await run())
      })

      /** How many signatures each row has; all are taken first, and signing begins at these runs. */
      const rowsAfter = async (sign: () => Promise<unknown>): Promise<number[]> => {
        const { receiptSignatures: table } = w.db.tables
        await w.db.write((q) => rows(q.delete(table).returning()))
        await w.deps.receipts.noteSignedUpTo(made[0]?.place ?? 0)
        await sign()
        const found = await w.db.read((q) => rows(q.select().from(table).orderBy(table.place)))
        return found.map(({ signature }) => signature.length / 65)
      }
      /** The receipts whose signature is not the one that `signer` makes. */
      const wrong = async (signer: { sign(digest: Uint8Array): Uint8Array }) => {
        const faults: number[] = []
        for (const [i, { id }] of made.entries()) {
          const { digest, signature } = (await w.deps.receipts.find(id)) ?? {}
          if (!digest || !signature) faults.push(i)
          else if (toHex(signature) !== toHex(signer.sign(digest))) faults.push(i)
        }
        return faults
      }

      test('share rows of thirty, and each receipt finds its own.', async () => {
        expect(await rowsAfter(backgroundSigner(w.deps))).toEqual([30, 10])
        expect(await wrong(w.deps.signer)).toEqual([])
      })

      test('leave out one that was signed alone, which stays.', async () => {
        const alone = made[12]
        const sign = async () => {
          const found = alone && (await w.deps.receipts.find(alone.id))
          if (!found) throw new Error('no receipt')
          await signed(w.deps, alone.id, found)
          await backgroundSigner(w.deps)()
        }
        expect(await rowsAfter(sign)).toEqual([12, 1, 17, 10])
        expect(await wrong(w.deps.signer)).toEqual([])
      })

      test('are all replaced from a place within a row on, where a key is revoked there.', async () => {
        const next = { sign: (digest: Uint8Array) => w.deps.signer.sign(digest).fill(7, 0, 32) }
        const from = made[20]?.place ?? 0
        const span = { from, before: (made.at(-1)?.place ?? 0) + 1, which: 'all' } as const
        const sign = async () => {
          await backgroundSigner(w.deps)()
          await w.db.write((q) => signReceipts(w.db, q, span, next))
        }
        expect(await rowsAfter(sign)).toEqual([30, 20])
        const old = await wrong(w.deps.signer)
        expect([old.length, old[0]]).toEqual([20, 20])
        expect((await wrong(next)).length).toBe(20)
      })
    })
  })
}
