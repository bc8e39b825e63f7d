/** The formats of a usage export. */
import { canonical } from '../../kernel/canonical.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import { plainField, textField, toLine } from '../../kernel/csv.ts'
import { toHex } from '../../kernel/hex.ts'
import { type Nusd, toJsonInteger, toUsd } from '../../kernel/money.ts'
import {
  cachedUnitsOf,
  cacheWriteUnitsOf,
  costOf,
  inputUnitsOf,
  type MeterLine,
  outputUnitsOf,
  reasoningUnitsOf,
} from '../../models/meter.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { focus } from './focus-export.ts'
import type { ExportedRun } from './store.ts'

/** A key as exports name it. */
export type ExportedKey = { name: string; parentId: string | null }

/** How an export is written: its bytes follow from the runs and the names of their keys alone. */
export type ExportFormat = {
  extension: 'csv' | 'jsonl'
  contentType: string
  header: string
  /** All lines of one run, each ended. */
  linesOf(run: ExportedRun, key: ExportedKey): string
  /** How many lines that is. */
  rowsOf(run: ExportedRun): number
  /** Whether its manifest is its last line. */
  hasManifest: boolean
}

export const csvColumns = [
  'time',
  'run_id',
  'receipt_id',
  'receipt_digest',
  'key_id',
  'key_name',
  'parent_key_id',
  'model',
  'kind',
  'outcome',
  'input_units',
  'output_units',
  'list_cost_usd',
  'discount_usd',
  'cost_usd',
  'cost_nusd',
  'usage_source',
  'passport',
  'tags_json',
  'cached_units',
  'cache_write_units',
  'reasoning_units',
  'lines_json',
] as const

/** One line a run, for spreadsheets. */
export const csv: ExportFormat = {
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8; header=present',
  header: toLine(csvColumns),
  rowsOf: () => 1,
  hasManifest: false,
  linesOf(run, key) {
    const list = listCostOf(run)
    return toLine([
      plainField(toRfc3339(run.finishedAt)),
      plainField(run.id),
      plainField(receiptIdOf(run.id)),
      plainField(toHex(run.digest)),
      plainField(run.keyId),
      textField(key.name),
      plainField(key.parentId ?? ''),
      textField(run.model),
      plainField(run.kind),
      plainField(run.outcome ?? ''),
      plainField(inputUnitsOf(run.lines)),
      plainField(outputUnitsOf(run.lines)),
      plainField(toUsd(list)),
      plainField(toUsd(list - run.cost)),
      plainField(toUsd(run.cost)),
      plainField(run.cost),
      plainField(run.usageSource ?? ''),
      textField(run.passport),
      textField(canonical(run.tags)),
      plainField(cachedUnitsOf(run.lines)),
      plainField(cacheWriteUnitsOf(run.lines)),
      plainField(reasoningUnitsOf(run.lines)),
      textField(canonical(linesView(run))),
    ])
  },
}

/** One JSON object a run, for programs: the same as the CSV, but nothing is guarded or quoted. */
export const jsonl: ExportFormat = {
  extension: 'jsonl',
  contentType: 'application/jsonl; charset=utf-8',
  header: '',
  rowsOf: () => 1,
  hasManifest: true,
  linesOf(run, key) {
    const list = listCostOf(run)
    const row = {
      time: toRfc3339(run.finishedAt),
      run_id: run.id,
      receipt_id: receiptIdOf(run.id),
      receipt_digest: toHex(run.digest),
      key_id: run.keyId,
      key_name: key.name,
      parent_key_id: key.parentId,
      model: run.model,
      kind: run.kind,
      outcome: run.outcome,
      input_units: inputUnitsOf(run.lines),
      output_units: outputUnitsOf(run.lines),
      list_cost_usd: toUsd(list),
      discount_usd: toUsd(list - run.cost),
      cost_usd: toUsd(run.cost),
      cost_nusd: toJsonInteger(run.cost),
      usage_source: run.usageSource,
      passport: run.passport === '' ? null : run.passport,
      tags: Object.fromEntries(Object.entries(run.tags).sort(([a], [b]) => (a < b ? -1 : 1))),
      cached_units: cachedUnitsOf(run.lines),
      cache_write_units: cacheWriteUnitsOf(run.lines),
      reasoning_units: reasoningUnitsOf(run.lines),
      lines: linesView(run),
    }
    return `${JSON.stringify(row)}\n`
  },
}

/** FinOps FOCUS 1.2, for cost tools: one line a meter line. */
const focusFormat: ExportFormat = {
  extension: 'csv',
  contentType: csv.contentType,
  header: focus.header,
  rowsOf: ({ lines }) => lines.length,
  hasManifest: false,
  linesOf: (run, key) => focus.linesOf(run, linesOf(run), key.name),
}

export const exportFormats = { csv, jsonl, focus: focusFormat } as const
export type FormatName = keyof typeof exportFormats
export const formatNames = ['csv', 'jsonl', 'focus'] as const satisfies readonly FormatName[]

/** The cost of the run without its discount. */
const listCostOf = (run: ExportedRun): Nusd => costOf(linesOf(run), 0)

/** The meter lines as the API shows them. */
const linesView = (run: ExportedRun) =>
  run.lines.map(({ meter, quantity, price }) => ({
    meter,
    quantity,
    price_pusd: toJsonInteger(BigInt(price)),
  }))

const linesOf = (run: ExportedRun): MeterLine[] =>
  run.lines.map(({ meter, quantity, price }) => ({
    meter: meter as MeterLine['meter'],
    quantity,
    pricePusd: BigInt(price),
  }))
