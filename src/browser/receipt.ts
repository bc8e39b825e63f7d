import { type Carried, toTrust } from '../verify/carried.ts'
import type { Receipt } from '../verify/receipt.ts'
import {
  proofIn,
  type ShownCheck,
  type StampWords,
  shownChecks,
  stampWords,
  stateWords,
} from '../verify/shown-checks.ts'
import { hiddenWords, slipLines, totalOf } from '../verify/slip-lines.ts'
import type { Verdict } from '../verify/verify.ts'
import { byId, element } from './dom.ts'

/**
 * The page of a receipt: judges what the page carries on the reader's own device, by the verifier
 * that is loaded for it, compares it with the slip, and only then stamps it.
 */

const checks = byId('checks', HTMLElement)
const stamp = byId('stamp', HTMLElement)
const badge = byId('standing', HTMLElement)
const told = byId('checked-here', HTMLElement)

void check()

async function check(): Promise<void> {
  const { module, carried } = byId('carried', HTMLElement).dataset
  if (!module || !carried) return
  const { file, now, ...trusted }: Carried = JSON.parse(carried)
  const { verify } = (await import(module)) as typeof import('./verify.ts')
  const verdict = verify({ file }, toTrust({ now, ...trusted }))
  const judged = { verdict, file, now }
  const other = verdict.receipt_id === null ? undefined : slipFault(file.receipt, verdict)
  const shown = [...(other ? [other] : []), ...shownChecks(judged)]
  for (const [i, one] of shown.entries()) show(one, i)
  for (const left of [...checks.children].slice(shown.length)) left.remove()
  const isBad = shown.some(({ result }) => result === 'bad')
  badge.textContent = isBad ? 'Not valid' : stateWords(verdict)
  if (isBad) badge.className = 'tag bad'
  const words = other
    ? { words: 'Not valid', against: 'see the checks', isBad: true }
    : stampWords(verdict, proofIn(judged))
  stamp.replaceChildren(...(words ? [stampOf(words)] : []))
  told.classList.remove('unseen')
  told.previousElementSibling?.classList.add('unseen')
}

/** Puts a check where the server's stood: most of them say the same, and nothing moves. */
function show({ result, label, detail }: ShownCheck, i: number): void {
  const icon = document.getElementById(`icon-${result}`)?.cloneNode(true)
  const made = element('li', { class: result })
  if (icon instanceof Element) {
    icon.removeAttribute('id')
    made.append(icon)
  }
  made.append(element('strong', {}, label), element('small', {}, detail))
  const before = checks.children[i]
  if (before) before.replaceWith(made)
  else checks.append(made)
}

/** Whether the slip says something else than the receipt that was judged. */
function slipFault(receipt: Receipt, verdict: Verdict): ShownCheck | undefined {
  const due = [
    receipt.id,
    ...slipLines(receipt, verdict).flatMap(([name, value]) => [name, value ?? hiddenWords]),
    totalOf(receipt)?.join('') ?? hiddenWords,
  ]
  const places = '.slip h1, .slip dt, .slip dd, .slip .total > :last-child'
  const found = [...document.querySelectorAll(places)].map(({ textContent }) => textContent ?? '')
  const at = Math.max(due.length, found.length)
  for (let i = 0; i < at; i++) {
    const [expected = 'nothing', said = 'nothing'] = [due[i], found[i]]
    if (expected === said) continue
    const detail = `Expected “${expected}” as in the file; found “${said}” on this page.`
    return { result: 'bad', label: 'The slip is not of this file', detail }
  }
  return undefined
}

const stampOf = ({ words, against, isBad }: StampWords): Node =>
  element(
    'div',
    { class: isBad ? 'stampmark bad' : 'stampmark' },
    words,
    element('small', {}, against),
  )
