import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { fund, type Home, makeHome, noBinary } from '../support/binary.ts'

describe.skipIf(noBinary)('a leaf that changed on the disk', () => {
  let home: Home
  beforeAll(async () => {
    home = await makeHome()
  })
  afterAll(() => home?.remove())

  test('is named by doctor, the proof, the tile and the status, and an audit ends with 1', async () => {
    let server = await home.start()
    const key = await fund(home, '5')
    const ids: string[] = []
    for (let i = 0; i < 12; i++) {
      const answer = await fetch(`${server.origin}/v1/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'counterfoil/echo-1', input: `run ${i}` }),
      })
      ids.push(((await answer.json()) as { receipt: { id: string } }).receipt.id)
    }
    // The head is signed with the first proof.
    expect((await fetch(`${server.origin}/v1/receipts/${ids.at(-1)}/proof`)).status).toBe(200)
    expect((await home.cli('audit', '--base', server.origin)).code).toBe(0)
    await server.stop()
    const examine = async () => {
      const done = await home.cli('doctor', '--json')
      const { findings } = JSON.parse(done.stdout) as {
        findings: { part: string; status: string; message: string }[]
      }
      return findings.find(({ part }) => part === 'log')
    }
    expect(await examine()).toMatchObject({ status: 'ok' })

    const raw = new Database(join(home.data, 'counterfoil.db'))
    raw.run('DROP TRIGGER log_leaves_never_change')
    raw.run(`UPDATE log_leaves SET hashes = zeroblob(length(hashes)) WHERE idx = 5`)
    raw.close()

    const found = await examine()
    expect(found?.status).toBe('fail')
    expect(found?.message).toContain('Leaf 5 of')
    server = await home.start()
    const proofs = await Promise.all(
      ids.map(async (id) => {
        const answer = await fetch(`${server.origin}/v1/receipts/${id}/proof`)
        const body = (await answer.json()) as { error?: { type: string; message: string } }
        return { status: answer.status, error: body.error }
      }),
    )
    const refused = proofs.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, error } of refused) {
      expect([status, error?.type]).toEqual([503, 'log_damaged'])
      expect(error?.message).toContain('Leaf 5 of the log')
    }
    const status = (await (await fetch(`${server.origin}/v1/status`)).json()) as {
      status: string
      log: { damaged_leaf?: number }
    }
    expect([status.status, status.log.damaged_leaf]).toEqual(['degraded', 5])
    const audited = await home.cli('audit', '--base', server.origin)
    expect([audited.code, audited.stdout]).toEqual([1, expect.stringContaining('Leaf 5 of')])
    await server.stop()
  }, 60_000)
})
