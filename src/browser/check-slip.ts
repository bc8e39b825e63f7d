/** Draws a receipt file as a slip. */
import { rosetteHues, rosettePaths, rosetteSize } from '../verify/rosette.ts'
import type { Verdict } from '../verify/verify.ts'
import { stampOf } from './check-parts.ts'
import { drawing, element } from './dom.ts'

type Verifier = typeof import('./verify.ts')

/** A given file as a slip, as the server draws one; nothing if it cannot be read. */
export function slipOf(verifier: Verifier, file: unknown, verdict: Verdict): Node[] {
  const parsed = verifier.parseReceiptFile(file)
  if (!parsed.ok || verdict.receipt_id === null) return []
  const { receipt, digest } = parsed.file
  const { hiddenWords, slipLines, totalOf } = verifier
  const total = totalOf(receipt)
  const stamp = verifier.stampWords(verdict, verifier.proofIn({ verdict, file: parsed.file }))
  const paper = element(
    'article',
    { class: 'slip', 'aria-labelledby': 'slip-id' },
    element('div', { class: 'mark' }, figureOf(digestOf(verdict, digest))),
    element('p', { class: 'quiet' }, element('small', {}, 'Receipt')),
    element('h2', { id: 'slip-id' }, receipt.id),
    element('p', { class: 'quiet' }, element('time', {}, timeOf(receipt.issuedAt))),
    element('dl', {}, ...rowsOf(slipLines(receipt, verdict), hiddenWords)),
    element('div', { class: 'total' }, element('span', {}, 'Total'), totalRow(total, hiddenWords)),
    element('p', { class: 'print quiet' }, note),
    element('div', { class: 'stampplace', id: 'stamp' }, ...(stamp ? [stampOf(stamp)] : [])),
  )
  return [element('div', { class: 'slipwrap' }, paper)]
}

function figureOf(hash: string): Node {
  const [a, b] = rosetteHues(hash)
  return drawing(rosetteSize, rosettePaths(hash), { class: `ros dyed a${a} b${b}` })
}

const note =
  'The prompt and the answer are not on this page. Their holder can prove that they match ' +
  'the hashes.'

const digestOf = ({ digest }: Verdict, claimed: string): string => digest ?? claimed

/** The lines of a slip: a value that is not there is hidden. */
export const rowsOf = (lines: ReturnType<Verifier['slipLines']>, hiddenWords: string): Node[] =>
  lines.flatMap(([name, value]) => [
    element('dt', {}, name),
    value === undefined ? element('dd', { class: 'hid' }, hiddenWords) : element('dd', {}, value),
  ])

function totalRow(total: [whole: string, small: string] | undefined, hiddenWords: string): Node {
  if (!total) return element('small', { class: 'hid' }, hiddenWords)
  const [whole, small] = total
  return element('data', { class: 'amount' }, whole, element('small', {}, small))
}

function timeOf(ms: string): string {
  const time = new Date(Number(ms))
  if (Number.isNaN(time.getTime())) return `${ms} ms`
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
