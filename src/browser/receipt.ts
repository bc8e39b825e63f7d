/** The page of a receipt: verifies on this device before it stamps. */
import type { PagePayload } from '../verify/page-payload.ts'
import type { Receipt } from '../verify/receipt.ts'
import type { ShownCheck, StampWords } from '../verify/shown-checks.ts'
import type { Verdict } from '../verify/verify.ts'
import { checkItem, stampOf } from './check-parts.ts'
import { byId } from './dom.ts'

/**
 * The page of a receipt: judges what the page carries on the reader's own device, by the verifier
 * that is loaded for it, compares it with the slip, and only then stamps it.
 */

const checks = byId('checks', HTMLElement)
const stamp = byId('stamp', HTMLElement)
const badge = byId('standing', HTMLElement)
const told = byId('checked-here', HTMLElement)

void check()

type Verifier = typeof import('./verify.ts')

async function check(): Promise<void> {
  const { module, payload } = byId('payload', HTMLElement).dataset
  if (!module || !payload) return
  const verifier: Verifier = await import(module)
  const { file, ...trusted }: PagePayload = JSON.parse(payload)
  const verdict = verifier.verify({ file }, verifier.toTrust(trusted))
  const judged = { verdict, file, now: trusted.now }
  const isRead = verdict.receipt_id !== null
  const other = isRead ? slipFault(verifier, file.receipt, verdict) : undefined
  const shown = [...verifier.shownChecks(judged), ...(other ? [other] : [])]
  for (const [i, one] of shown.entries()) show(one, i)
  for (const left of [...checks.children].slice(shown.length)) left.remove()
  const words = other ? otherSlip : verifier.stampWords(verdict, verifier.proofIn(judged))
  badge.textContent = other ? otherSlip.words : verifier.stateWords(verdict)
  if (words?.isBad) badge.className = 'tag bad'
  stamp.replaceChildren(...(words ? [stampOf(words)] : []))
  told.classList.remove('unseen')
  told.previousElementSibling?.classList.add('unseen')
}

const otherSlip: StampWords = { words: 'Not valid', against: 'see the checks', isBad: true }

/** Puts a check where the server's stood: most of them say the same, and nothing moves. */
function show(one: ShownCheck, i: number): void {
  const made = checkItem(one)
  const before = checks.children[i]
  if (before) before.replaceWith(made)
  else checks.append(made)
}

/** Whether the slip says something else than the receipt that was judged. */
function slipFault(
  { slipLines, totalOf, hiddenWords }: Verifier,
  receipt: Receipt,
  verdict: Verdict,
): ShownCheck | undefined {
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
