/** The page that checks a receipt on the device of the reader. */
import { systemClock } from '../kernel/clock.ts'
import { readSubmission } from '../proof/receipts/submitted-receipt.ts'
import type { ChainEvidence } from '../verify/check-anchor.ts'
import type { Policy } from '../verify/policy.ts'
import type { ReceiptFile } from '../verify/receipt.ts'
import type { Supplements } from '../verify/supplements.ts'
import type { Trust, Verdict } from '../verify/verify.ts'
import { checkItem } from './check-parts.ts'
import { slipOf } from './check-slip.ts'
import { readChosenFile } from './chosen-file.ts'
import { byId, element } from './dom.ts'
import { askChain, findLog, type Log } from './own-logs.ts'

/**
 * The page that checks a receipt: what is dropped, chosen or pasted is judged on the reader's own
 * device. The service is asked for one thing, what the chain says of the place in its log, and it
 * gets no more for that than hashes.
 */

const form = byId('check', HTMLFormElement)
const text = byId('text', HTMLTextAreaElement)
const signers = byId('signers', HTMLInputElement)
const quote = byId('quote', HTMLTextAreaElement)
const evidence = byId('evidence', HTMLTextAreaElement)
const policy = byId('policy', HTMLTextAreaElement)
const here = byId('here', HTMLElement).dataset

type Verifier = typeof import('./verify.ts')
type Evidence = typeof import('./evidence.ts')

const logs: Log[] = JSON.parse(here['logs'] ?? '[]')
const upstreamKeys: string[] = JSON.parse(here['upstreamKeys'] ?? '[]')
const stays = byId('stays-here', HTMLElement)
stays.classList.remove('unseen')
stays.previousElementSibling?.classList.add('unseen')

form.addEventListener('submit', (event) => {
  const given = readSubmission(text.value, here['base'] ?? location.origin)
  // An id or a link leads to a page of this service: the form goes there by itself.
  if (given.kind === 'receipt') return
  event.preventDefault()
  void check()
})
text.addEventListener('paste', () => void setTimeout(() => form.requestSubmit()))
readChosenFile(() => {
  // What is checked is what stands in the field; the file is not sent beside it.
  byId('file', HTMLInputElement).value = ''
  void check()
})

async function check(): Promise<void> {
  const given = readSubmission(text.value, here['base'] ?? location.origin)
  complain('text', given.kind === 'wrong' ? given.message : '')
  if (given.kind !== 'file') return
  const demands = await readDemands()
  if (!demands) return
  const verifier: Verifier = await import(here['module'] ?? '')
  const { file } = given
  const { redact, sectionNames } = verifier
  const hideAll = () => ({ ...file, receipt: redact(file.receipt, sectionNames) })
  const { log, shard } = await findLog(logs, file.receipt.issuer, hideAll)
  const said = { signers: log?.signers ?? [], issuers: issuersOf(log), chain: null }
  const own = { ...verifier.toTrust(said), ...(upstreamKeys.length > 0 && { upstreamKeys }) }
  const trust = demands.trust(own)
  const { quote, attested } = demands
  const input = { file, quote, attested, problems: [...given.problems, ...demands.problems] }
  const judge = (chain?: ChainEvidence) =>
    verifier.verify(input, chain ? { ...trust, chain } : trust, demands.chain)
  const verdict = judge()
  show(verifier, file, verdict, shard)
  const asks = here['asks'] && demands.isOwn && demands.chain !== 'skip'
  if (!asks || verdict.level !== 'logged') return
  const chain = await askChain(hideAll, shard)
  if (chain) show(verifier, file, judge(chain), shard)
}

const issuersOf = (log: Log | undefined): string[] =>
  [...logs, ...(log ? [log] : [])].map(({ origin }) => origin)

/** The demands of the reader beside the file. */
type Demands = Pick<Supplements, 'quote' | 'attested' | 'problems'> & {
  chain: Policy['chain']
  /** Whether this service's own word on its signers counts. */
  isOwn: boolean
  trust(own: Trust): Trust
}

/** Reads the other fields; undefined when one is marked as wrong. */
async function readDemands(): Promise<Demands | undefined> {
  const named = signers.value.split(/[\s,;]+/).filter((word) => word !== '')
  const texts = { quote: quote.value, evidence: evidence.value, policy: policy.value }
  complain('quote', '')
  complain('evidence', '')
  complain('policy', '')
  if (Object.values(texts).join('').trim() === '') {
    const isOwn = named.length === 0
    const trust = (own: Trust) => (isOwn ? own : { signers: named.map((address) => ({ address })) })
    return { quote: undefined, problems: [], chain: 'auto', isOwn, trust }
  }
  // The mathematics of witnesses would double the verifier of every page.
  const reader: Evidence = await import(here['evidence'] ?? '')
  const read = reader.readSupplements(texts)
  if (!read.ok) {
    complain(read.field, read.message)
    return undefined
  }
  const { policy: rules, ...rest } = read.beside
  return {
    ...rest,
    chain: rules.chain,
    isOwn: named.length === 0 && rules.signers === undefined,
    trust: (own) => reader.trustWith(own, rules, named),
  }
}

function show(
  verifier: Verifier,
  file: ReceiptFile,
  verdict: Verdict,
  shard: string | undefined,
): void {
  const kind = verifier.kindOf(verdict)
  const tone = kind === 'bad' ? 'bad' : kind === 'good' ? 'ok' : 'wait'
  const title = element('span', { class: `verdict ${tone}` }, verifier.headlineOf(verdict))
  const checks = verifier.shownChecks({ verdict, file, now: systemClock.now() })
  const panel = element(
    'section',
    { class: 'sec', id: 'result', 'aria-labelledby': 'result-title' },
    element('header', {}, element('h2', { id: 'result-title' }, title)),
    element(
      'p',
      { class: 'pad quiet' },
      `${verifier.summaryOf(verdict)} ${verifier.evidenceOf(verdict)}`,
    ),
    element('ul', { class: 'checks bare', id: 'checks' }, ...checks.map(checkItem)),
    element('footer', {}, element('span', {}, `Checked in your browser.${shardWords(shard)}`)),
  )
  byId('verdict', HTMLElement).replaceChildren(panel)
  byId('paper', HTMLElement).replaceChildren(...slipOf(verifier, file, verdict))
  // On a narrow screen it stands below the form.
  if (panel.getBoundingClientRect().top > window.innerHeight / 2) panel.scrollIntoView()
}

/** Names the shard whose signers were asked for; empty for this one. */
const shardWords = (shard: string | undefined): string =>
  shard === undefined ? '' : ` Its signers are those that shard ${shard} names.`

function complain(id: 'text' | 'quote' | 'evidence' | 'policy', message: string): void {
  const field = byId(id, HTMLTextAreaElement)
  byId(`${id}-error`, HTMLElement).textContent = message
  if (message === '') field.removeAttribute('aria-invalid')
  else {
    field.setAttribute('aria-invalid', 'true')
    const folded = field.closest('details')
    if (folded) folded.open = true
    if (id !== 'text') field.focus()
  }
}
