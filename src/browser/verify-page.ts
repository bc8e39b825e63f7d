/** The offline verifier: reads a receipt or a proof of liabilities, and checks it here. */
import { checkLiabilities } from '../verify/liabilities.ts'
import { liabilityVerdict } from '../verify/shown-liabilities.ts'
import { readChosenFile } from './chosen-file.ts'
import { byId } from './dom.ts'
import { headlineOf, verify } from './verify.ts'
import { hasLiabilities, readEntries, readLiabilitiesEntries } from './verify-entries.ts'
import { liabilitiesSlip, liabilitiesVerdict } from './verify-liabilities.ts'
import { slipOf } from './verify-slip.ts'
import { verdictOf } from './verify-verdict.ts'

/** The offline page: reads what is dropped, chosen or pasted, and judges it on this device. */

const form = byId('form', HTMLFormElement)
const text = byId('text', HTMLTextAreaElement)
const verdictPart = byId('verdict', HTMLElement)
const slipPart = byId('slip', HTMLElement)
const help = byId('help', HTMLElement)
const status = byId('status', HTMLElement)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  check()
})
form.addEventListener('reset', clear)
readChosenFile(check)
text.addEventListener('paste', () => void setTimeout(check))

function check(): void {
  const judged = hasLiabilities() ? judgeLiabilities() : judgeReceipt()
  if (!judged) {
    show([], [])
    status.textContent = 'Nothing was checked: see the marked field.'
    form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    return
  }
  show(judged.verdict, judged.slip)
  status.textContent = judged.headline
  // On a narrow screen it stands below the fields.
  const isBelow = verdictPart.getBoundingClientRect().top > window.innerHeight / 2
  if (isBelow) verdictPart.scrollIntoView({ block: 'start' })
}

type Judgement = { headline: string; verdict: Node[]; slip: Node[] }

function judgeReceipt(): Judgement | undefined {
  const entries = readEntries()
  if (!entries) return undefined
  const { input, trust, chain } = entries
  const verdict = verify(input, trust, chain)
  const slip = slipOf(input.file, verdict)
  return { headline: headlineOf(verdict), verdict: verdictOf(verdict), slip }
}

/** A file of liabilities, from Billing → Liabilities. */
function judgeLiabilities(): Judgement | undefined {
  const entries = readLiabilitiesEntries()
  if (!entries) return undefined
  const { value, repeated, trust } = entries
  const checks = checkLiabilities(value, trust, repeated)
  const { headline } = liabilityVerdict(checks)
  return { headline, verdict: liabilitiesVerdict(checks), slip: liabilitiesSlip(value, checks) }
}

function clear(): void {
  // After the browser emptied the fields.
  setTimeout(() => {
    for (const field of form.querySelectorAll('[aria-invalid]')) {
      field.removeAttribute('aria-invalid')
    }
    for (const message of form.querySelectorAll('.err')) message.setAttribute('hidden', '')
    show([], [])
    status.textContent = ''
  })
}

function show(verdict: Node[], slip: Node[]): void {
  verdictPart.replaceChildren(...verdict)
  slipPart.replaceChildren(...slip)
  verdictPart.hidden = verdict.length === 0
  slipPart.hidden = slip.length === 0
  help.hidden = verdict.length > 0
}
