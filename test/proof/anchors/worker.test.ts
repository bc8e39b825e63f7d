import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logIdOf } from '../../../src/verify/proof.ts'
import { noAnvil } from '../../contracts/anvil.ts'
import { promise } from '../../support/promise.ts'
import { engines } from '../../support/world.ts'
import { type Anchored, anchoredWorld, senderAddress } from './anchored.ts'

for (const engine of engines) {
  describe.skipIf(noAnvil)(`the anchor worker on ${engine}`, () => {
    let a: Anchored
    let id = ''
    beforeAll(async () => {
      a = await anchoredWorld({ engine })
    }, 60_000)
    afterAll(() => a.stop())

    const place = () => ({
      chain_id: 4663,
      registry: a.registry.address,
      log_owner: senderAddress,
    })
    const listed = async (query = '') => (await a.call(`/v1/anchors${query}`)).json()

    test('a log that no one opened is opened in the registry, once it has a leaf', async () => {
      await a.look(2)
      expect(await a.transactions()).toEqual([])
      id = await a.receipts(1)
      await a.look()
      expect((await a.transactions()).map(({ purpose }) => purpose)).toEqual(['open'])
      const opened = await a.deps.anchoring.placeOf(a.deps.settings.issuer)
      expect(opened?.owner).toBe(senderAddress)
      const [owner, size] = (await a.registry.read('logs', opened?.id)) as [string, bigint]
      expect([owner, size]).toEqual([senderAddress, 0n])
      const range = await a.registry.read('signers', opened?.id, a.deps.signer.address)
      expect(range).toEqual([0n, 2n ** 64n - 1n, true])
    })

    test('a receipt that waits says when its anchor is due', async () => {
      const { anchor } = await a.proof(id)
      expect(anchor).toEqual({ status: 'pending', ...place(), expected_by: expect.any(String) })
      const due = Date.parse(anchor.expected_by) - a.deps.clock.now()
      expect(due).toBeGreaterThan(500_000)
      expect(due).toBeLessThanOrEqual(600_000)
    })

    promise`G11 H: An anchor is final when it was read back, and pending again when its block is
      gone.`
    test('its head is submitted, confirmed and final, and the proof says so at each step', async () => {
      await a.look()
      expect((await a.proof(id)).anchor.status).toBe('submitted')
      await a.look()
      const confirmed = await a.proof(id)
      expect(confirmed.anchor).toEqual({
        status: 'confirmed',
        ...place(),
        size: confirmed.checkpoint.size,
        tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        block_number: expect.stringMatching(/^\d+$/),
        block_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        block_time: expect.stringMatching(/^\d{4}-.*Z$/),
      })
      await a.look()
      expect((await a.proof(id)).anchor.status).toBe('confirmed')
      await a.rpc('anvil_mine', '0x2')
      await a.look()
      expect((await a.proof(id)).anchor).toEqual({ ...confirmed.anchor, status: 'final' })
    })

    test('the registry has the root of the checkpoint, and takes the proof', async () => {
      const { size, checkpoint, index, leaf, path } = await a.proof(id)
      const log = (await a.deps.anchoring.placeOf(checkpoint.issuer))?.id
      expect(await a.registry.read('rootAt', log, size)).toBe(checkpoint.root)
      expect(await a.registry.read('verify', log, size, index, leaf, path)).toBe(true)
      expect(await a.registry.read('verify', log, size, index, checkpoint.root, path)).toBe(false)
    })

    test('any backlog is one transaction, whose consistency the registry checked', async () => {
      const before = (await a.transactions()).length
      const last = await a.receipts(7)
      a.advance(10_000)
      await a.look(3)
      expect((await a.transactions()).length).toBe(before + 1)
      const proof = await a.proof(last)
      expect(proof.anchor.status).toBe('confirmed')
      const log = (await a.deps.anchoring.placeOf(proof.checkpoint.issuer))?.id
      const head = await a.registry.read('head', log)
      expect(head).toEqual([BigInt(proof.size), proof.checkpoint.root, 2])
    })

    test('a receipt keeps the smallest anchored size that covers it', async () => {
      const [newest, oldest] = (await listed()).data
      expect((await a.proof(id)).size).toBe(String(oldest.size))
      expect(newest.prev_size).toBe(oldest.size)
      const other = await (await a.call(`/v1/receipts/${id}/proof?size=${newest.size}`)).json()
      expect([other.size, other.anchor.size]).toEqual([String(newest.size), String(newest.size)])
    })

    test('no anchor without a new leaf, and none sooner than the interval', async () => {
      const before = (await a.transactions()).length
      a.advance(60_000)
      await a.look(2)
      await a.receipts(1)
      a.advance(10_000)
      await a.look(2)
      expect((await a.transactions()).length).toBe(before + 1)
      await a.receipts(1)
      a.advance(9_000)
      await a.look(2)
      expect((await a.transactions()).length).toBe(before + 1)
      a.advance(1_000)
      await a.look(2)
      expect((await a.transactions()).length).toBe(before + 2)
    })

    test('asked for, an anchor is made at once', async () => {
      const before = (await a.transactions()).length
      await a.receipts(1)
      a.advance(1)
      await a.deps.anchors.want()
      await a.look(2)
      expect((await a.transactions()).length).toBe(before + 1)
      await a.look(2)
      expect((await a.transactions()).length).toBe(before + 1)
    })

    test('GET /v1/anchors lists them by pages, largest first, with the path between any two', async () => {
      const all = await listed()
      expect(all.data.length).toBe(5)
      expect(all).toMatchObject({ registry: a.registry.address, log_owner: senderAddress })
      const { origin } = all.log
      const ownId = await a.registry.read('logIdOf', senderAddress, origin)
      const signer = await (await a.call('/v1/signer')).json()
      expect([all.registry_log_id, signer.registry_log_id]).toEqual([ownId, ownId])
      expect(all.log.id).toBe(logIdOf(a.deps.settings.issuer))
      expect(all.data[0]).toEqual({
        id: expect.stringMatching(/^anc_/),
        object: 'anchor',
        status: 'confirmed',
        size: all.log.size,
        prev_size: all.data[1].size,
        root: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        leaves: all.log.size - all.data[1].size,
        tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        block_number: expect.any(Number),
        block_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        block_time: expect.stringMatching(/^\d{4}-.*Z$/),
        finalized_at: null,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        explorer_url: null,
      })
      const sizes = all.data.map(({ size }: { size: number }) => size)
      expect(sizes).toEqual([...sizes].sort((x: number, y: number) => y - x))
      const seen: number[] = []
      let after = ''
      for (let page = await listed('?limit=2'); ; page = await listed(`?limit=2&after=${after}`)) {
        seen.push(...page.data.map(({ size }: { size: number }) => size))
        after = page.last_id
        if (!page.has_more) break
      }
      expect(seen).toEqual(sizes)
      expect((await a.call('/v1/anchors?after=anc_1')).status).toBe(400)
    })

    test('the status tells what is anchored, who pays, and that all is well', async () => {
      const { chain, log, anchors, status } = await a.status()
      expect(status).toBe('ok')
      expect(chain).toEqual({
        id: 4663,
        head: expect.any(Number),
        lag_s: expect.any(Number),
        status: 'ok',
      })
      expect(log).toEqual({
        size: log.size,
        anchored_size: log.size,
        oldest_unanchored_s: null,
        status: 'ok',
      })
      const sender = { address: senderAddress, balance_wei: expect.any(String), low: false }
      expect(anchors).toEqual({ status: 'ok', reason: null, sender, lag_s: 0 })
      const { registry } = await (await a.call('/v1/signer')).json()
      expect(registry).toBe(a.registry.address)
    })
  })
}
