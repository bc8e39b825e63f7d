/** The page that checks a receipt on the device of the reader. */
import { systemClock } from '../kernel/clock.ts'
import { readGiven } from '../proof/receipts/given.ts'
import type { ChainEvidence } from '../verify/check-anchor.ts'
import type { PagePayload } from '../verify/page-payload.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import type { Trust, Verdict } from '../verify/verify.ts'
import { checkItem } from './check-parts.ts'
import { slipOf } from './check-slip.ts'
import { byId, element } from './dom.ts'

/**
 * The page that checks a receipt: what is dropped, chosen or pasted is judged on the reader's own
 * device. The service is asked for one thing, what the chain says of the place in its log, and it
 * gets no more for that than hashes.
 */

const form = byId('check', HTMLFormElement)
const text = byId('text', HTMLTextAreaElement)
const file = byId('file', HTMLInputElement)
const signers = byId('signers', HTMLInputElement)
const drop = byId('drop', HTMLElement)
const here = byId('here', HTMLElement).dataset

type Verifier = typeof import('./verify.ts')
type Log = { origin: string; signers: PagePayload['signers'] }

const logs: Log[] = JSON.parse(here['logs'] ?? '[]')
const stays = byId('stays-here', HTMLElement)
stays.classList.remove('unseen')
stays.previousElementSibling?.classList.add('unseen')

form.addEventListener('submit', (event) => {
  const given = readGiven(text.value, here['base'] ?? location.origin)
  // An id or a link leads to a page of this service: the form goes there by itself.
  if (given.kind === 'receipt') return
  event.preventDefault()
  void check()
})
text.addEventListener('paste', () => void setTimeout(() => form.requestSubmit()))
file.addEventListener('change', () => void take(file.files?.[0]))

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
  // What is checked is what stands in the field; the file is not sent beside it.
  file.value = ''
  await check()
}

async function check(): Promise<void> {
  const given = readGiven(text.value, here['base'] ?? location.origin)
  complain(given.kind === 'wrong' ? given.message : '')
  if (given.kind !== 'file') return
  const verifier: Verifier = await import(here['module'] ?? '')
  const { file, problems } = given
  const trust = trustOf(verifier, file)
  const verdict = verifier.verify({ file, problems }, trust)
  show(verifier, file, verdict)
  if (!here['asks'] || verdict.level !== 'logged' || signers.value.trim() !== '') return
  const chain = await askChain(verifier, file)
  if (!chain) return
  show(verifier, file, verifier.verify({ file, problems }, { ...trust, chain }))
}

/** Those that the reader names, or else the signers of this service for the log of that file. */
function trustOf({ toTrust }: Verifier, { receipt }: ReceiptFile): Trust {
  const named = signers.value.split(/[\s,;]+/).filter((word) => word !== '')
  if (named.length > 0) return { signers: named.map((address) => ({ address })) }
  const log = logs.find(({ origin }) => origin === receipt.issuer) ?? logs.at(-1)
  const issuers = logs.map(({ origin }) => origin)
  return toTrust({ signers: log?.signers ?? [], issuers, chain: null })
}

/** What this service reads on the chain. All sections of the receipt are hidden first. */
async function askChain(
  { redact, sectionNames }: Verifier,
  { disclosures: _, ...given }: ReceiptFile,
): Promise<ChainEvidence | undefined> {
  const asked = { ...given, receipt: redact(given.receipt, sectionNames) }
  try {
    const answer = await fetch('/verify/chain', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    const { chain }: { chain?: ChainEvidence | null } = await answer.json()
    return chain ?? undefined
  } catch {
    return undefined
  }
}

function show(verifier: Verifier, file: ReceiptFile, verdict: Verdict): void {
  const kind = verifier.kindOf(verdict)
  const tone = kind === 'bad' ? 'bad' : kind === 'good' ? 'ok' : 'wait'
  const title = element('span', { class: `verdict ${tone}` }, verifier.headlineOf(verdict))
  const checks = verifier.shownChecks({ verdict, file, now: systemClock.now() })
  const panel = element(
    'section',
    { class: 'sheet', id: 'result', 'aria-labelledby': 'result-title' },
    element('header', {}, element('h2', { id: 'result-title' }, title)),
    element('p', { class: 'pad quiet' }, verifier.summaryOf(verdict)),
    element('ul', { class: 'checks bare', id: 'checks' }, ...checks.map(checkItem)),
    element('footer', {}, element('span', {}, 'Checked in your browser.')),
  )
  byId('verdict', HTMLElement).replaceChildren(panel)
  byId('paper', HTMLElement).replaceChildren(...slipOf(verifier, file, verdict))
  // On a narrow screen it stands below the form.
  if (panel.getBoundingClientRect().top > window.innerHeight / 2) panel.scrollIntoView()
}

function complain(message: string): void {
  byId('text-error', HTMLElement).textContent = message
  if (message === '') text.removeAttribute('aria-invalid')
  else text.setAttribute('aria-invalid', 'true')
}
