import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { partsOf } from '../../../src/front/status/parts.ts'
import type { StatusAnswer } from '../../../src/front/status/shapes.ts'
import { type World, world } from '../../support/world.ts'

const html = { accept: 'text/html' }

describe('/status', () => {
  let w: World
  beforeAll(async () => {
    w = await world()
  })
  afterAll(() => w.stop())

  test('200: the parts, the log, its anchors and its witnesses, as a page', async () => {
    const answer = await w.call('/status', { headers: html })
    const page = await answer.text()
    expect(answer.status).toBe(200)
    for (const part of ['Models', 'Database', 'Ledger', 'Receipts', 'Anchors', 'Deposits']) {
      expect(page).toContain(`<strong>${part}</strong>`)
    }
    expect(page).toContain('All systems normal')
    expect(page).toContain(`<code>${w.deps.logs.current.origin}</code>`)
    expect(page).toContain('href="/log/checkpoint"')
    expect(page).toContain('does not anchor its log on a chain')
    expect(page).toContain('No witness signs beside this service')
  })

  test('every page leads there from its foot', async () => {
    const page = await (await w.call('/models', { headers: html })).text()
    expect(page).toContain('<a href="/status">')
  })

  test('each trouble is named, with what it means for runs', async () => {
    const well: StatusAnswer = await (await w.call('/v1/status')).json()
    const partOf = (name: string, change: Partial<StatusAnswer>) =>
      partsOf({ ...well, ...change }).find(({ part }) => part === name)
    expect(
      partOf('Models', { models: { live: 3, degraded: 2, failing_upstreams: 1 } }),
    ).toMatchObject({
      tone: 'warn',
      state: '2 of 3 paused',
    })
    const { database, log } = well
    expect(partOf('Database', { database: { ...database, status: 'down' } })?.tone).toBe('bad')
    expect(partOf('Database', { database: { ...database, status: 'read_only' } })?.state).toBe(
      'Read-only',
    )
    expect(partOf('Ledger', { ledger: 'unbalanced' })?.tone).toBe('bad')
    expect(partOf('Receipts', { log: { ...log, status: 'diverged' } })?.meaning).toContain('paused')
    const late = { ...well.anchors, status: 'degraded' as const, reason: 'late' }
    expect(partOf('Anchors', { anchors: late })).toMatchObject({ tone: 'warn', state: 'Late' })
    const chain = { ...well.chain, status: 'unreachable' }
    expect(partOf('Chain', { chain })?.meaning).toContain('runs go on')
    const deposits = { ...well.deposits, status: 'degraded' as const }
    expect(partOf('Deposits', { deposits })?.meaning).toContain('none is lost')
  })
})
