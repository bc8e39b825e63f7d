/** Writes answers of the API as lines of text. */
import { toRfc3339 } from '../../../kernel/clock.ts'
import type { Model, PriceList } from '../../../models/model.ts'
import {
  priceText,
  rateSections,
  rateText,
  type ShownRate,
} from '../../../models/pages/shown-rates.ts'
import type { AnchorsAnswer } from '../../../proof/anchors/shapes.ts'
import type { PassportAnswer } from '../../../proof/passports/shapes.ts'
import { receiptIdOf } from '../../../proof/receipts/receipt.ts'
import type { SignerAnswer } from '../../../proof/signer/shapes.ts'
import type { RunRow } from '../../../storage/db/schema/schema.ts'
import { meterInText } from '../../../verify/meter-words.ts'
import type { Proof } from '../../../verify/proof.ts'
import { isHidden, type Receipt, sectionNames } from '../../../verify/receipt.ts'
import { lineOf } from '../../../verify/slip-lines.ts'
import { headlineOf, summaryOf, titleOf } from '../../../verify/verdict-words.ts'
import type { Verdict } from '../../../verify/verify.ts'
import { amountText } from '../../../web/ui/amount.tsx'
import type { SeenView } from '../../explorer/recent.ts'
import type { StatusAnswer } from '../../status/shapes.ts'
import { type Usage, usageOf } from '../language.ts'
import { columns, plain, toLines } from '../text.ts'

/** What answers of `/v1` say to people, in lines. */

export const helpLines = (commands: readonly Usage[]): string[] =>
  columns(commands.map((usage) => [usageOf(usage), usage.about]))

export function statusLines(status: StatusAnswer): string[] {
  const { log, chain, anchors, deposits, ledger, models, version } = status
  const anchored = log.anchored_size === null ? '' : `, ${log.anchored_size} of them on the chain`
  const head = chain.head === null ? '' : `, block ${chain.head}`
  return columns([
    ['status', status.status],
    ['version', version],
    ['up for', durationText(status.uptime_s)],
    ['log', log.size === null ? 'cannot be read' : `${log.size} leaves${anchored}`],
    ['ledger', ledger],
    ['models', `${models.live} live`],
    ['chain', `${chain.id}, ${chain.status}${head}`],
    ['anchors', anchors.status],
    ['deposits', deposits.status],
  ])
}

export function modelLines(models: readonly Model[]): string[] {
  const width = Math.max(...models.map(({ id }) => id.length))
  return models.map((model) => {
    const state = model.status === 'live' ? '' : `, ${model.status}`
    const open = model.terminal ? ', answers here' : ''
    return plain(`${model.id.padEnd(width)}  ${priceText(model, 'per 1M tokens')}${state}${open}`)
  })
}

/** All rates of a model; those of bands and tiers under what they are for. */
export function priceLines(model: Model, list: PriceList): string[] {
  const [own, ...others] = rateSections(model)
  const rows = (rates: readonly ShownRate[] = []) =>
    rates.map((rate) => [rateName(rate), rateText(rate)] as const)
  return [
    ...columns([
      ['model', plain(model.id)],
      ...rows(own?.rates),
      ['price list', `${list.id}@${list.version}`],
    ]),
    ...others.flatMap(({ when = '', rates }) => [
      plain(when),
      ...columns(rows(rates)).map((line) => `  ${line}`),
    ]),
  ]
}

const rateName = ({ meter }: ShownRate): string =>
  meter === 'request' ? 'a run' : meterInText(meter)

export const verdictLines = (verdict: Verdict): string[] => [
  headlineOf(verdict),
  summaryOf(verdict),
  ...verdict.checks
    .filter(({ status }) => status === 'pass' || status === 'fail')
    .map((check) => `${check.status === 'pass' ? '✓' : '✗'} ${titleOf(check)}`),
]

export function receiptLines(receipt: Receipt, visibility: string): string[] {
  const { run, charge, passport, subject } = receipt
  const hidden = sectionNames.filter((name) => isHidden(receipt[name]))
  const pairs: [string, string][] = [
    ['receipt', receipt.id],
    ['issuer', receipt.issuer],
    ['issued at', toRfc3339(Number(receipt.issuedAt))],
  ]
  if (!isHidden(run)) pairs.push(['model', run.model], ['outcome', run.outcome])
  if (!isHidden(charge)) {
    for (const line of charge.lines) pairs.push([meterInText(line.meter), lineOf(line)])
    pairs.push(['cost', amountText(BigInt(charge.amount))])
  }
  if (!isHidden(passport) && passport.handle) pairs.push(['passport', passport.handle])
  if (!isHidden(subject)) pairs.push(['account', subject.account])
  pairs.push(['seen by', seenBy[visibility] ?? visibility])
  if (hidden.length > 0) pairs.push(['hidden', hidden.join(', ')])
  return columns(pairs).map(plain)
}

const seenBy: Record<string, string> = {
  private: 'its owner',
  unlisted: 'anyone with its id',
  public: 'everybody',
}

export const proofLines = ({ index, leaf, size, path, checkpoint, anchor }: Proof): string[] =>
  columns([
    ['index', `${index} of ${size}`],
    ['leaf', leaf],
    ['path', `${path.length} ${path.length === 1 ? 'hash' : 'hashes'}`],
    ['root', checkpoint.root],
    ['anchor', anchor.status],
  ])

export function passportLines(passport: Omit<PassportAnswer, 'status'>): string[] {
  const { handle, display_name: name, kind, bio, track_record: record, url } = passport
  const rate = record.success_rate_bps === null ? '' : `, ${record.success_rate_bps / 100}% well`
  return columns([
    ['passport', handle],
    ['name', name],
    ['kind', kind],
    ...(bio === '' ? [] : [['says', bio] as const]),
    ['runs', `${record.runs}${rate}`],
    ['active', `${record.active_days} ${record.active_days === 1 ? 'day' : 'days'}`],
    ['page', url],
  ]).map((line) => toLines(line).join(' '))
}

export function anchorLines({ data, log }: Pick<AnchorsAnswer, 'data' | 'log'>): string[] {
  const head = `${log.size} ${log.size === 1 ? 'leaf' : 'leaves'} in the log`
  if (data.length === 0) return [`${head}, none of them on the chain yet`]
  const lines = data.map(({ size, leaves, status, block_number: block }) => {
    const at = block === null ? '' : `, block ${block}`
    return `${String(size).padStart(10)}  ${leaves} new, ${status}${at}`
  })
  return [`${head}. Largest anchors first:`, ...lines]
}

/** Of a private one only what everybody may know: its place, its minute, its model, its end. */
export function recentLines({ data }: { data: readonly SeenView[] }): string[] {
  if (data.length === 0) return ['No receipt is in the log yet.']
  return data.map((seen) => {
    const { index, minute, model, outcome } = seen
    const name = seen.visibility === 'public' ? seen.id : 'private'
    const at = `${minute.slice(0, 10)} ${minute.slice(11, 16)}`
    return plain(`${String(index).padStart(8)}  ${at}  ${model ?? '–'}  ${outcome ?? '–'}  ${name}`)
  })
}

export function runsLines(runs: readonly RunRow[]): string[] {
  if (runs.length === 0) return ['You have no runs yet.']
  return runs.map(({ id, createdAt, model, outcome, status, cost }) =>
    plain(`${id}  ${toRfc3339(createdAt)}  ${model}  ${outcome ?? status}  ${amountText(cost)}`),
  )
}

export const runLines = (run: RunRow): string[] =>
  columns([
    ['run', run.id],
    ['model', run.model],
    ['begun at', toRfc3339(run.createdAt)],
    ['state', run.status],
    ['cost', amountText(run.cost)],
    ['held', amountText(run.hold)],
    ['receipt', run.finishedAt === null ? 'when it ends' : receiptIdOf(run.id)],
  ]).map(plain)

export const signerLines = (signer: SignerAnswer): string[] =>
  columns([
    ['address', signer.address],
    ['scheme', signer.scheme],
    ['issuer', signer.issuer],
    ['from index', String(signer.from_index)],
    ['registry', signer.registry ?? 'none'],
  ])

function durationText(seconds: number): string {
  const units: [length: number, name: string][] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ]
  const [length, name] = units.find(([one]) => seconds >= one) ?? [1, 's']
  return `${Math.floor(seconds / length)} ${name}`
}
