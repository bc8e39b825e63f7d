/** Draws the receipt of the offline verifier. */
import type { Json } from '../kernel/canonical.ts'
import { isHidden, parseReceiptFile, type Receipt } from '../verify/receipt.ts'
import { hueDegrees, rosetteHues, rosettePaths, rosetteSize } from '../verify/rosette.ts'
import { hiddenWords, slipLines, totalOf } from '../verify/slip-lines.ts'
import type { Verdict } from '../verify/verify.ts'
import { rowsOf } from './check-slip.ts'
import { drawing, element } from './dom.ts'
import { kindOf, levelWords } from './verify.ts'

/** The receipt as paper. A stamp is on it only when it is valid; empty for what cannot be read. */
export function slipOf(file: unknown, verdict: Verdict): Node[] {
  const parsed = parseReceiptFile(file)
  if (!parsed.ok || verdict.receipt_id === null) return []
  const { receipt, digest, disclosures } = parsed.file
  const head = element(
    'div',
    { class: 'head' },
    element('small', {}, 'Receipt'),
    element('h2', { class: 'name' }, receipt.id),
    element('span', { class: 'mono small' }, timeOf(receipt.issuedAt)),
    element('span', { class: 'mono small' }, receipt.issuer),
  )
  const texts = (['input', 'output'] as const).flatMap((name) => {
    const value = disclosures?.[name]?.value
    return value === undefined ? [] : [disclosed(name, value)]
  })
  const paper = element(
    'article',
    { class: 'slip' },
    figureOf(verdict.digest ?? digest),
    head,
    element('dl', {}, ...rowsOf(slipLines(receipt, verdict), hiddenWords)),
    totalRow(receipt),
    ...(texts.length > 0 ? [element('div', { class: 'texts' }, ...texts)] : []),
    footOf(verdict),
  )
  return [paper]
}

function totalRow(receipt: Receipt): Node {
  const label = element('span', {}, 'Total')
  const total = totalOf(receipt)
  if (!total || isHidden(receipt.charge)) {
    return element('div', { class: 'total' }, label, 'hidden')
  }
  const [whole, small] = total
  const { amount } = receipt.charge
  const data = element('data', { value: amount }, whole, element('small', {}, small))
  return element('div', { class: 'total' }, label, data)
}

function disclosed(name: 'input' | 'output', value: Json): Node {
  const title = name === 'input' ? 'The input, as disclosed' : 'The output, as disclosed'
  const text = element('pre', {}, JSON.stringify(value, null, 2))
  return element('details', {}, element('summary', {}, title), text)
}

function footOf(verdict: Verdict): Node {
  const words = 'Prompt and answer are on a receipt only as commitments: anyone who holds them can '
  const note = element('p', {}, `${words}prove that they match.`)
  if (kindOf(verdict) !== 'good' || verdict.level === null) {
    return element('div', { class: 'foot' }, note)
  }
  const level = element('em', {}, levelWords[verdict.level])
  const stamp = element('div', { class: 'stamp' }, 'Verified', level)
  return element('div', { class: 'foot' }, note, stamp)
}

export function timeOf(ms: string): string {
  const time = new Date(Number(ms))
  return Number.isNaN(time.getTime()) ? `${ms} ms` : time.toISOString().replace('T', ' ')
}

/** The figure in its two hues: no style may stand on an element of the file. */
export function figureOf(hash: string): SVGElement {
  const svg = drawing(rosetteSize, rosettePaths(hash), { class: 'rosette' })
  const [first, second] = rosetteHues(hash)
  svg.querySelectorAll('path').forEach((path, ring) => {
    path.setAttribute('stroke', `oklch(47% .13 ${hueDegrees(ring === 1 ? second : first)})`)
  })
  return svg
}
