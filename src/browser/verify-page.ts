/** The offline verifier: reads a receipt file and checks it on this device. */
import { byId } from './dom.ts'
import { headlineOf, verify } from './verify.ts'
import { readEntries } from './verify-entries.ts'
import { slipOf } from './verify-slip.ts'
import { verdictOf } from './verify-verdict.ts'

/** The offline page: reads what is dropped, chosen or pasted, and judges it on this device. */

const form = byId('form', HTMLFormElement)
const text = byId('text', HTMLTextAreaElement)
const file = byId('file', HTMLInputElement)
const drop = byId('drop', HTMLElement)
const verdictPart = byId('verdict', HTMLElement)
const slipPart = byId('slip', HTMLElement)
const help = byId('help', HTMLElement)
const status = byId('status', HTMLElement)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  check()
})
form.addEventListener('reset', clear)
file.addEventListener('change', () => void take(file.files?.[0]))
text.addEventListener('paste', () => void setTimeout(check))

// Also beside the field: a browser would leave this page and show the file.
document.addEventListener('dragover', (event) => {
  event.preventDefault()
  drop.classList.add('over')
})
document.addEventListener('dragleave', () => drop.classList.remove('over'))
document.addEventListener('drop', (event) => {
  event.preventDefault()
  drop.classList.remove('over')
  void take(event.dataTransfer?.files[0])
})

async function take(chosen: File | undefined): Promise<void> {
  if (!chosen) return
  text.value = await chosen.text()
  check()
}

function check(): void {
  const entries = readEntries()
  if (!entries) {
    show([], [])
    status.textContent = 'Nothing was checked: see the marked field.'
    form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    return
  }
  const { input, trust, chain } = entries
  const verdict = verify(input, trust, chain)
  show(verdictOf(verdict), slipOf(input.file, verdict))
  status.textContent = headlineOf(verdict)
  // On a narrow screen it stands below the fields.
  const isBelow = verdictPart.getBoundingClientRect().top > window.innerHeight / 2
  if (isBelow) verdictPart.scrollIntoView({ block: 'start' })
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
