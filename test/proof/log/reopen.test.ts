import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { insertEnded } from '../../../bench/stored-runs.ts'
import { sha256 } from '../../../src/kernel/hash.ts'
import { fromHex, toHex } from '../../../src/kernel/hex.ts'
import { auditFiles } from '../../../src/proof/audit/audit.ts'
import { reopenLog } from '../../../src/proof/log/reopen.ts'
import { headStore } from '../../../src/proof/log/store/head.ts'
import { reopenings } from '../../../src/proof/log/store/reopen.ts'
import { reissued } from '../../../src/proof/receipts/receipt.ts'
import { logNoteSigner } from '../../../src/proof/signer/ed25519.ts'
import { signerFromHex } from '../../../src/proof/signer/signer.ts'
import { endAbandoned } from '../../../src/runs/end-abandoned.ts'
import type { Db } from '../../../src/storage/db/engine/db.ts'
import type { RunRow } from '../../../src/storage/db/schema/schema.ts'
import { insert, rows } from '../../../src/storage/db/sql/query-steps.ts'
import { structDigest } from '../../../src/verify/eip712.ts'
import { leafHash, leafKinds } from '../../../src/verify/merkle.ts'
import { logIdOf } from '../../../src/verify/proof.ts'
import { keyTypes, noteKey } from '../../../src/verify/signed-note.ts'
import { allRuns, lastEnded, lastRun } from '../../support/runs.ts'
import { engines, freshDb, testPrivateKey } from '../../support/world.ts'
import { failed, type Service, serviceOn } from '../signer/service.ts'

const signer = signerFromHex(testPrivateKey)

for (const engine of engines) {
  describe(`a reopened log on ${engine}`, () => {
    let db: Db
    let close: () => Promise<void>
    let service: Service
    /** Of the first log, as they were given out. */
    const old: Awaited<ReturnType<Service['receipt']>>[] = []
    let first = ''

    beforeAll(async () => {
      const fresh = await freshDb(engine)
      db = fresh.db
      close = async () => {
        await db.close()
        await fresh.drop()
      }
      service = await serviceOn(db, signer)
      first = service.deps.settings.issuer
      for (let i = 0; i < 5; i++) old.push(await service.receipt())
    }, 30_000)
    afterAll(async () => {
      await service.stop()
      await close()
    })

    const reopen = async (wish: Parameters<typeof reopenLog>[1], meanwhile = async () => {}) => {
      await service.stop()
      await meanwhile()
      const stores = { reopenings: reopenings(db, service.deps.logStore), headStore: headStore(db) }
      const deps = { ...service.deps, ...stores, headFile: undefined, reissue: reissued }
      const reopened = await reopenLog(deps, wish)
      service = await serviceOn(db, signer, service.secret)
      return reopened
    }
    const leavesFrom = async (place: number) => {
      const { logLeaves } = db.tables
      const all = await db.read((q) => rows(q.select().from(logLeaves).orderBy(asc(logLeaves.idx))))
      expect(all.map(({ idx }) => idx)).toEqual(all.map((_, i) => i))
      return all.slice(place)
    }

    test('issues under the next origin, and its first leaf names what the chain has of the old one', async () => {
      // The chain has more than this database: it is an old copy.
      const head = { size: 1000, root: new Uint8Array(32).fill(7) }
      const reopened = await reopen({ reason: 'restored from an old copy', head })
      expect(reopened).toMatchObject({ origin: `${first}#2`, head })
      const { start, origin } = service.deps.logs.current
      expect([service.deps.settings.issuer, origin]).toEqual([`${first}#2`, `${first}#2`])
      const statement = {
        issuer: origin,
        previous: first,
        previousSize: 1000,
        previousRoot: head.root,
        reason: 'restored from an old copy',
      }
      const leaf = leafHash(leafKinds.reopening, structDigest('LogReopening', statement))
      const [opening, prices] = await leavesFrom(start)
      expect(toHex(opening?.hashes.subarray(0, 32) ?? new Uint8Array())).toBe(toHex(leaf))
      // The prices that its receipts name are in it too.
      expect([opening?.kind, prices?.kind]).toEqual([leafKinds.reopening, leafKinds.priceList])
    })

    test('goes on issuing: its indices begin again, and its proofs hold', async () => {
      for (const index of [2, 3, 4]) {
        const file = await service.receipt()
        expect([file.receipt.issuer, file.proof.index]).toEqual([`${first}#2`, String(index)])
        expect(file.proof.log_id).toBe(logIdOf(`${first}#2`))
        const verdict = await service.verify(file)
        expect([failed(verdict), verdict.valid, verdict.level]).toEqual([[], true, 'logged'])
      }
    })

    test('leaves old receipts what they were: valid, in the old log, under its checkpoints', async () => {
      for (const file of old) {
        const now = await service.call(`/v1/receipts/${file.receipt.id}`)
        expect([now.signature, now.receipt.issuer]).toEqual([file.signature, first])
        for (const one of [file, now]) {
          const verdict = await service.verify(one)
          expect([failed(verdict), verdict.valid, verdict.level]).toEqual([[], true, 'logged'])
        }
        expect(now.proof.checkpoint.issuer).toBe(first)
      }
      const mixed = { ...old[0], proof: (await service.receipt()).proof }
      expect((await service.verify(mixed)).valid).toBe(false)
    })

    test('a run that was open meanwhile gets its receipt in the new log', async () => {
      const ended = await lastRun({ db })
      const id = `${ended.id.slice(0, -4)}0000`
      const node = 'of a dead process'
      const open: RunRow = { ...ended, id, node, status: 'running', hold: 0n, windows: [] }
      await db.write(() => insert(db.tables.openRuns, [open]))
      const { origin } = await reopen({ reason: 'again' })
      expect(origin).toBe(`${first}#3`)
      await endAbandoned(service.deps)
      const file = await service.call(`/v1/receipts/rcpt_${id.slice('run_'.length)}`)
      expect(file.receipt).toMatchObject({ issuer: origin, run: { outcome: 'interrupted' } })
      expect(failed(await service.verify(file))).toEqual([])
    })

    test('ends with all receipts that waited for a place or a signature, a thousand too', async () => {
      const ended = await lastEnded({ db })
      const digestOf = (at: number) => sha256(new Uint8Array([at >> 8, at & 255]))
      const unasked = Array.from({ length: 1100 }, (_, at) => {
        return { ...ended, id: `${ended.id.slice(0, -4)}${1000 + at}`, digest: digestOf(at) }
      })
      await reopen({ reason: 'and again' }, async () => {
        for (let at = 0; at < unasked.length; at += 100) {
          await db.write(() => insertEnded(db, unasked.slice(at, at + 100)))
        }
      })
      const { start } = service.deps.logs.current
      const digests = new Map(unasked.map(({ id, digest }) => [id, digest]))
      const ours = (await allRuns({ db })).filter(({ id }) => digests.has(id))
      const wrong = ours.filter(({ id, logPlace, signature }) => {
        const made = signer.sign(digests.get(id) ?? new Uint8Array())
        const isIn = logPlace !== null && logPlace < start
        return !isIn || !signature || toHex(signature) !== toHex(made)
      })
      expect([ours.length, wrong.length]).toEqual([1100, 0])
    }, 60_000)

    test('is told by GET /v1/signer, and the chain of heads by GET /v1/anchors', async () => {
      const told = await service.call('/v1/signer')
      expect([told.issuer, told.log.origin]).toEqual([`${first}#4`, `${first}#4`])
      expect(told.former_logs.map(({ origin }: { origin: string }) => origin)).toEqual([
        first,
        `${first}#2`,
        `${first}#3`,
      ])
      expect(told.former_logs[0].size).toBe(old.length + 1)
      expect(told.former_logs[0].signers[0].address).toBe(signer.address)
      const { log } = await service.call('/v1/anchors')
      expect([log.origin, log.size]).toEqual([`${first}#4`, told.log.size])
    })

    test('leaves the files of each log at a path of its own, where they hold by themselves', async () => {
      const noted = logNoteSigner(signer).publicKey
      const origins = [first, `${first}#2`, `${first}#3`, `${first}#4`]
      for (const [i, origin] of origins.entries()) {
        const read = service.open(i === 0 ? '/log' : `/log/${i + 1}`)
        const keys = [noteKey(origin, keyTypes.ed25519, noted)]
        const own = i === 0 ? old : []
        const papers = own.map((value) => ({ name: 'old.json', value, repeated: [] }))
        const signers = [{ address: signer.address }]
        const { holds, checks } = await auditFiles(
          { read, keys, papers, signers, origin },
          undefined,
        )
        expect([origin, checks.filter(({ status }) => status === 'fail'), holds]).toEqual([
          ...[origin, [], true],
        ] as never)
      }
      expect(await service.open('/log/5')('checkpoint')).toBeUndefined()
      expect(await service.open('/log/1')('checkpoint')).toBeUndefined()
      const { log } = await service.call('/v1/signer')
      expect(log.prefix).toBe('/log/4')
    })

    test('without a chain names the newest head that was signed', async () => {
      const { proof } = await service.receipt()
      await service.call(`/v1/receipts/${(await service.receipt()).receipt.id}`)
      const latest = await service.deps.checkpoints.latest(`${first}#4`)
      const { head } = await reopen({ reason: 'once more' })
      expect([head.size, toHex(head.root)]).toEqual([
        latest?.size ?? 0,
        toHex(latest?.root ?? fromHex('0x')),
      ])
      expect(head.size).toBeGreaterThan(Number(proof.size))
    })
  })
}
