import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { auditFiles, auditService } from '../../../src/proof/audit/audit.ts'
import { type Service, ServiceTrouble } from '../../../src/proof/audit/service-view.ts'
import { program } from '../../support/program.ts'
import { promise } from '../../support/promise.ts'
import { engines, usd, type World, world } from '../../support/world.ts'
import { fund, publish } from '../liabilities/publishing.ts'

const dayMs = 86_400_000
const begun = Date.UTC(2026, 10, 20, 12)

describe.each(engines)('liabilities statements, in the tiles of a log (%s)', (engine) => {
  let w: World
  beforeAll(async () => {
    w = await world({ engine, now: begun })
    await fund(w, [5n * usd, 2n * usd])
    for (let day = 0; day < 3; day++) {
      if (day > 0) w.advance(dayMs)
      await publish(w)
    }
    // Signs the head over all of them.
    expect((await w.call('/liabilities/3')).status).toBe(200)
  }, 60_000)
  afterAll(() => w.stop())

  type Listed = { data: { id: string }[] }
  const open = (prefix: string) => async (path: string) => {
    const answer = await w.call(`${prefix}/${path}`)
    return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : undefined
  }

  /** Audits a service that changes its list of statements, or has none. */
  async function audit(lie: (told: Listed) => unknown = () => {}, owedEvery?: number, days = 2) {
    const service: Service = {
      get: async (path) => {
        const answer = await w.call(path)
        if (answer.status !== 200) throw new ServiceTrouble(path, answer.status === 404)
        const told = (await answer.json()) as Listed
        if (path.startsWith('/liabilities?')) lie(told)
        return told
      },
    }
    const every = owedEvery ? { everyMs: owedEvery, now: begun + days * dayMs } : undefined
    const report = await auditService({
      service,
      files: { open, keys: [], papers: [] },
      ...(every && { owedEvery: every }),
    })
    const told = (name: string) => {
      const found = report.checks.find((check) => check.name === name)
      return `${found?.status}: ${found?.reason}`
    }
    return { holds: report.holds, list: told('liabilities'), leaves: told('owed_leaves') }
  }

  test('are all listed by an honest service', async () => {
    const { holds, leaves } = await audit()
    expect(leaves).toBe('pass: The log has 3 liabilities statements, all of them listed.')
    expect(holds).toBe(true)
  })

  promise`D61`
  test('betray a service that leaves its newest statement out of its list', async () => {
    const { holds, list, leaves } = await audit(({ data }) => data.shift())
    // The list alone looks whole: its numbers fall one by one to the first.
    expect(list).toStartWith('pass: 2 statements in this log')
    const newest = await w.deps.liabilities.newest()
    const digest = newest?.digest ?? ''
    expect(leaves).toBe(
      `fail: Leaf ${newest?.logPlace} of the log is a liabilities statement that the service ` +
        `hides: GET /liabilities lists none with the digest ${digest}. Keep the entry, its tiles ` +
        'and the checkpoint as evidence.',
    )
    expect(holds).toBe(false)
  })

  test('betray one that hides several, or says that it makes none', async () => {
    const empty = await audit((told) => Object.assign(told, { data: [] }))
    expect(empty.leaves).toContain('the service hides')
    expect(empty.leaves).toContain('So are 2 more.')
    const silent = await audit(() => {
      throw new ServiceTrouble('no such path', true)
    })
    expect(silent.list).toStartWith('skip: ')
    expect(silent.leaves).toContain('So are 2 more.')
    expect([empty.holds, silent.holds]).toEqual([false, false])
  })

  test('end the command with status 1 where one is hidden, or a day is missing', async () => {
    let hides = true
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const answer = await w.call(pathname + search)
        if (pathname !== '/liabilities' || !hides) return new Response(answer.body, answer)
        const told = (await answer.json()) as Listed
        return Response.json({ ...told, data: told.data.slice(1) })
      },
    })
    const audit = async (...more: string[]) => {
      const words = ['audit', '--base', proxy.url.origin, ...more]
      const child = Bun.spawn([...program, ...words], { stdout: 'pipe', stderr: 'pipe' })
      return { said: await new Response(child.stdout).text(), code: await child.exited }
    }
    try {
      const hidden = await audit()
      expect(hidden.said).toMatch(/^✗ owed_leaves +Leaf \d+ of the log is a liabilities statement/m)
      expect(hidden.said).toContain('The audit failed.')
      expect(hidden.code).toBe(1)
      hides = false
      const honest = await audit()
      expect([honest.code, honest.said]).toEqual([0, expect.stringMatching(/^✓ owed_leaves /m)])
      // The newest is of a day long ago, or will have been.
      const late = await audit('--owed-every', '1')
      expect(late.said).toMatch(/^✗ liabilities +No liabilities statement is of the time/m)
      expect(late.code).toBe(1)
      expect((await audit('--owed-every', 'daily')).code).toBe(2)
    } finally {
      await proxy.stop(true)
    }
  })

  test('are counted, and compared with none, where the files are audited alone', async () => {
    const report = await auditFiles({ read: open('/log'), keys: [], papers: [] }, undefined)
    expect(report.checks.find(({ name }) => name === 'owed_leaves')).toMatchObject({
      status: 'skip',
      reason: 'The log has 3 liabilities statements: --base compares them with the listed ones.',
    })
  })

  test('come as often as the auditor demands, or the missing day is named', async () => {
    expect((await audit(undefined, dayMs)).list).toStartWith('pass')
    expect((await audit(undefined, dayMs, 3)).list).toStartWith('pass')
    const late = await audit(undefined, dayMs, 4)
    const missing = (from: string, to: string) =>
      `fail: No liabilities statement is of the time from ${from}T00:00:00.000Z to ${to}T00:00:00.000Z.`
    expect([late.holds, late.list]).toEqual([false, missing('2026-11-23', '2026-11-24')])
    w.advance(2 * dayMs)
    await publish(w)
    expect((await w.call('/liabilities/4')).status).toBe(200)
    expect((await audit(undefined, dayMs, 4)).list).toBe(missing('2026-11-23', '2026-11-24'))
    expect((await audit(undefined, 7 * dayMs, 4)).list).toStartWith('pass')
    const silent = await audit(
      () => {
        throw new ServiceTrouble('no such path', true)
      },
      dayMs,
      4,
    )
    expect(silent.list).toBe('fail: The service publishes no liabilities.')
    expect((await audit()).holds).toBe(true)
  })
})
