import { insertEnded } from '../../../bench/stored-runs.ts'
import {
  toFirstTokens,
  toUsageDays,
  toUsageQuarters,
} from '../../../src/billing/usage/counted-rows.ts'
import { systemRandom } from '../../../src/kernel/random.ts'
import { costOf, type MeterLine } from '../../../src/models/meter.ts'
import { isEnded } from '../../../src/proof/receipts/receipt.ts'
import { receiptCounter } from '../../../src/storage/counts/count.ts'
import type { EndedRun, StoredLine } from '../../../src/storage/db/schema/schema.ts'
import { rows } from '../../../src/storage/db/sql/query-steps.ts'
import { allRuns } from '../../support/runs.ts'
import type { World } from '../../support/world.ts'

type Wished = Partial<EndedRun> & { accountId: string; keyId: string; finishedAt: number }

/**
 * Ended runs written to the database, and numbered by the sequencer. Quicker than running them, for
 * tests that need thousands.
 */
export async function addReceipts(w: Pick<World, 'db' | 'deps'>, wished: Wished[]) {
  const { unnumberedBatches } = w.db.tables
  const made = wished.map((wish) => endedRun(w, wish))
  await w.db.write(() => insertEnded(w.db, made))
  const waiting = () => w.db.read((q) => rows(q.select().from(unnumberedBatches).limit(1)))
  // A lease that a leap of the clock ended is noticed by the first flush and taken by the next.
  for (let tries = 0; (await waiting()).length > 0; tries++) {
    if (tries === 10) throw new Error('the sequencer numbers nothing')
    await w.deps.sequencer.flush()
  }
  return made
}

const noHash = new Uint8Array(32)
const random = systemRandom()

export function endedRun({ deps }: Pick<World, 'deps'>, wish: Wished): EndedRun {
  const lines = wish.lines ?? linesOf(12, 345)
  const discountBps = wish.discountBps ?? 0
  const cost = costOf(toMeterLines(lines), discountBps)
  return {
    id: deps.ids.make('run'),
    node: 'node_test',
    status: 'succeeded',
    kind: 'chat',
    model: 'acme/small',
    route: 'acme:small',
    createdAt: wish.finishedAt - 1500,
    startedAt: wish.finishedAt - 1500,
    firstByteAt: wish.finishedAt - 1000,
    hold: cost,
    windows: [],
    priceList: 'prices@1',
    lines,
    cost,
    discountBps,
    usageSource: 'reported',
    clamped: false,
    outcome: 'complete',
    error: null,
    tags: {},
    metadata: {},
    durationMs: 1500,
    seed: noHash,
    inputCommitment: noHash,
    outputCommitment: null,
    issuer: 'https://gw.example',
    passport: '',
    digest: random.bytes(32),
    logPlace: null,
    signature: null,
    background: false,
    output: null,
    outputUntil: null,
    ...wish,
  }
}

export const linesOf = (input: number, output: number): StoredLine[] => [
  { meter: 'input', quantity: input, price: '150000' },
  { meter: 'output', quantity: output, price: '600000' },
]

/** A run with every class of tokens, and calls: 2,000 read (1,500 cached, 240 written), 300 written. */
export const classLines: StoredLine[] = [
  { meter: 'input', quantity: 200, price: '150000' },
  { meter: 'cache_read', quantity: 1500, price: '15000' },
  { meter: 'cache_write', quantity: 200, price: '187500' },
  { meter: 'cache_write_1h', quantity: 40, price: '300000' },
  { meter: 'audio_input', quantity: 50, price: '300000' },
  { meter: 'image_input', quantity: 10, price: '150000' },
  { meter: 'output', quantity: 180, price: '600000' },
  { meter: 'reasoning', quantity: 100, price: '600000' },
  { meter: 'audio_output', quantity: 15, price: '1200000' },
  { meter: 'image_output', quantity: 5, price: '1200000' },
  { meter: 'web_search', quantity: 2, price: '10000000000' },
  { meter: 'request', quantity: 1, price: '1000000' },
]

const toMeterLines = (lines: StoredLine[]): MeterLine[] =>
  lines.map(({ meter, quantity, price }) => ({
    meter: meter as MeterLine['meter'],
    quantity,
    pricePusd: BigInt(price),
  }))

/** Ticks the job until nothing is left to count. */
export async function countAll(w: Pick<World, 'deps'>): Promise<void> {
  const tick = receiptCounter(w.deps)
  while (await w.deps.counts.waits()) await tick()
}

/** What was counted, and what a fresh count over all numbered runs gives: both in one order. */
export async function countedAndFresh({ db }: Pick<World, 'db'>) {
  const { usageDays, usageQuarters, firstTokens } = db.tables
  const counted = await db.read((q) => rows(q.select().from(usageDays)))
  const quarters = await db.read((q) => rows(q.select().from(usageQuarters)))
  const waits = await db.read((q) => rows(q.select().from(firstTokens)))
  const ended = (await allRuns({ db })).filter(isEnded)
  const numbered = ended.filter(({ logPlace }) => logPlace !== null)
  return {
    counted: inOrder(counted),
    fresh: inOrder(toUsageDays(numbered)),
    finelyCounted: { quarters: inOrder(quarters), waits: inOrder(waits) },
    finelyFresh: {
      quarters: inOrder(toUsageQuarters(numbered)),
      waits: inOrder(toFirstTokens(numbered)),
    },
  }
}

function inOrder<T extends { accountId: string; keyId: string; model: string }>(found: T[]): T[] {
  const name = (row: T & { day?: number; at?: number; provider?: string; bar?: number }) =>
    JSON.stringify([row.accountId, row.day ?? row.at, row.keyId, row.model, row.provider, row.bar])
  return found.toSorted((a, b) => (name(a) < name(b) ? -1 : 1))
}

/** A strict reader of RFC 4180: every field, and no line that is longer or shorter than the first. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = []
  let at = 0
  while (at < text.length) {
    const line: string[] = []
    for (;;) {
      const [field, next] = text[at] === '"' ? quoted(text, at) : bare(text, at)
      line.push(field)
      if (text[next] === ',') {
        at = next + 1
        continue
      }
      if (text.slice(next, next + 2) !== '\r\n') throw new Error(`no end of line at ${next}`)
      at = next + 2
      break
    }
    lines.push(line)
  }
  const width = lines[0]?.length
  if (lines.some((line) => line.length !== width)) throw new Error('lines of different length')
  return lines
}

function bare(text: string, at: number): [string, number] {
  const field = /[^,\r\n"]*/y
  field.lastIndex = at
  return [field.exec(text)?.[0] ?? '', field.lastIndex]
}

function quoted(text: string, at: number): [string, number] {
  const field = /"((?:[^"]|"")*)"/y
  field.lastIndex = at
  const found = field.exec(text)
  if (!found) throw new Error(`an open quote at ${at}`)
  return [(found[1] ?? '').replaceAll('""', '"'), field.lastIndex]
}

/** The lines of a CSV by the names of its columns. */
export function recordsOf(text: string): Record<string, string>[] {
  const [header = [], ...lines] = parseCsv(text)
  return lines.map((line) => Object.fromEntries(header.map((name, i) => [name, line[i] ?? ''])))
}

/** Decimal USD as pico-USD, exactly. */
export function picoOf(usd: string): bigint {
  const [whole = '0', fraction = ''] = usd.split('.')
  return BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, '0'))
}
