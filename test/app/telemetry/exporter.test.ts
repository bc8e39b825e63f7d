import { afterEach, describe, expect, test } from 'bun:test'
import { senderTo } from '../../../src/app/open-telemetry.ts'
import { openExporter } from '../../../src/app/telemetry/exporter.ts'
import type { Span } from '../../../src/app/telemetry/spans.ts'
import { promise } from '../../support/promise.ts'
import { moneyOf, until, upstreamToml } from '../../support/runs.ts'
import { fundedKey, startNode } from '../../support/services.ts'
import { freshDb } from '../../support/world.ts'
import { type Answering, type Collector, startCollector } from './collector.ts'

const open: Collector[] = []
afterEach(async () => {
  for (const collector of open.splice(0)) await collector.stop()
})
async function collecting(answering?: Answering): Promise<Collector> {
  const collector = await startCollector(answering)
  open.push(collector)
  return collector
}

/** Counts by the end of a name: `sent_total`, `queue_full`, `unsent`, … */
type Family = ReturnType<ReturnType<typeof openExporter>['families']>[number]
const countsOf = (families: Family[]): Record<string, number> =>
  Object.fromEntries(
    families.flatMap(({ name, samples }) =>
      samples.map(({ labels, value }) => [
        labels?.['reason'] ?? name.replace('counterfoil_telemetry_spans_', ''),
        Number(value),
      ]),
    ),
  )
const nothing = { queue_full: 0, refused: 0, unsent: 0, stopped: 0, sent_total: 0, waiting: 0 }

let ids = 0
const spans = (count: number): Span[] =>
  Array.from({ length: count }, () => ({
    traceId: (++ids).toString(16).padStart(32, '0'),
    spanId: ids.toString(16).padStart(16, '0'),
    parentId: undefined,
    state: undefined,
    isRemote: false,
    kind: 'server',
    name: 'chat a',
    startedAt: 1_800_000_000_000,
    endedAt: 1_800_000_000_001,
    attributes: [],
    isError: false,
  }))

async function exporterTo(url: string, most = 2048) {
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  const send = await senderTo(url)
  const log = { info: note, warn: note }
  const exporter = openExporter({ send, log, most, pausesMs: [1, 1], collectMs: 1 })
  return { ...exporter, events, counts: () => countsOf(exporter.families()) }
}

const answering =
  (...statuses: number[]): Answering =>
  (response, count) => {
    response.writeHead(statuses[Math.min(count, statuses.length) - 1] ?? 200).end()
  }

describe('the export of spans', () => {
  test('sends all in batches, and says how many', async () => {
    const collector = await collecting()
    const exporter = await exporterTo(collector.url)
    for (let i = 0; i < 10; i++) exporter.add(spans(100))
    await exporter.stop(5000)
    expect(exporter.counts()).toEqual({ ...nothing, sent_total: 1000 })
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(1000)
    expect(collector.requests.length).toBeGreaterThanOrEqual(4)
    expect(exporter.events).toEqual([])
  })

  test('tries again after 429 and 503, and says once that it failed and once that it works', async () => {
    const collector = await collecting(answering(429, 503, 200))
    const exporter = await exporterTo(collector.url)
    exporter.add(spans(3))
    await until('three requests', () => exporter.counts()['sent_total'] === 3)
    expect(collector.requests).toHaveLength(3)
    expect(exporter.events).toEqual(['telemetry.failed', 'telemetry.recovered'])
    await exporter.stop(1000)
  })

  const endings: [string, Answering, Record<string, number>, tries: number][] = [
    ['429 for ever', answering(429), { unsent: 2 }, 3],
    ['500', answering(500), { refused: 2 }, 1],
    ['401', answering(401), { refused: 2 }, 1],
    [
      'a redirect',
      (response) => response.writeHead(307, { location: '/' }).end(),
      { unsent: 2 },
      3,
    ],
    ['nothing, and hangs up', (response) => response.destroy(), { unsent: 2 }, 3],
    ['half of an answer', (response) => void response.write('x', () => response.destroy()), {}, 1],
    [
      'that it took a part',
      (response) => response.end('{"partialSuccess":{"rejectedSpans":"1"}}'),
      { refused: 1 },
      1,
    ],
    [
      'that it rejected more than there were',
      (response) => response.end('{"partialSuccess":{"rejectedSpans":99}}'),
      { refused: 2 },
      1,
    ],
  ]
  test.each(endings)(
    'counts what is lost where a collector answers %s',
    async (_, how, lost, tries) => {
      const collector = await collecting(how)
      const exporter = await exporterTo(collector.url)
      exporter.add(spans(2))
      await until('the end of the batch', () => {
        const { waiting, ...counts } = exporter.counts()
        return Object.values(counts).reduce((sum, count) => sum + count, 0) === 2
      })
      const gone = Object.values(lost).reduce((sum, count) => sum + count, 0)
      expect(exporter.counts()).toEqual({ ...nothing, ...lost, sent_total: 2 - gone })
      expect(collector.requests).toHaveLength(tries)
      await exporter.stop(1000)
    },
  )

  test('counts what is lost where no collector listens', async () => {
    const collector = await startCollector()
    await collector.stop()
    const exporter = await exporterTo(collector.url)
    exporter.add(spans(2))
    await until('the end of the batch', () => exporter.counts()['unsent'] === 2)
    await exporter.stop(1000)
  })

  promise`E15`
  test('holds no more than its queue, a run whole or not at all', async () => {
    const collector = await collecting(() => undefined)
    const exporter = await exporterTo(collector.url, 10)
    exporter.add(spans(4))
    await until('a request', () => collector.requests.length === 1)
    for (const count of [4, 4, 4, 2]) exporter.add(spans(count))
    expect(exporter.counts()).toEqual({ ...nothing, queue_full: 4, waiting: 10 })
    await exporter.stop(1)
    expect(exporter.counts()).toEqual({ ...nothing, queue_full: 4, stopped: 14 })
    exporter.add(spans(1))
    expect(exporter.counts()['stopped']).toBe(15)
  })
})

promise`E15`
test('a service pays and stops as ever while its collector hangs, and counts what it could not send', async () => {
  const collector = await collecting(() => undefined)
  const { db, drop } = await freshDb('sqlite')
  const toml = `[telemetry]\nendpoint = "${collector.url}"\n${upstreamToml('any', collector.url)}`
  const node = await startNode(db, {
    toml: `${toml}[[models]]\nid = "counterfoil/echo-1"\n${prices}`,
  })
  const key = await fundedKey(node)
  const json = { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'a b' }] }
  const ask = async (stream: boolean) => {
    const answer = await node.call('/v1/chat/completions', { key, json: { ...json, stream } })
    await answer.text()
    return answer.status
  }
  const statuses = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0)))
  expect(statuses).toEqual(Array.from({ length: 40 }, () => 200))
  await until('a request that hangs', () => collector.requests.length === 1)
  expect(await ask(false)).toBe(200)
  const { balance_nusd: balance, held_nusd: held } = await moneyOf(
    { call: node.call } as Parameters<typeof moneyOf>[0],
    key,
  )
  // 41 runs of two words, read and written, at 1,000 and 2,000 nano-USD.
  expect([balance, held]).toEqual([100_000_000_000 - 41 * 6000, 0])
  await node.stop()
  expect(node.logged).not.toContain('server.stop_cut')
  const counts = countsOf(node.deps.telemetry?.families() ?? [])
  expect(counts).toEqual({ ...nothing, stopped: 82 })
  await drop()
})

const prices = 'input_pusd = 1_000_000\noutput_pusd = 2_000_000\n'
