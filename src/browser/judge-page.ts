/** Judges the receipt that a page carries, and compares it with the slip that the page shows. */
import type { PagePayload } from '../verify/page-payload.ts'
import type { Receipt } from '../verify/receipt.ts'
import type { ShownCheck, StampWords } from '../verify/shown-checks.ts'
import type { Verdict } from '../verify/verify.ts'

type Verifier = typeof import('./verify.ts')
type EvidenceVerifier = typeof import('./evidence.ts')

/** The browser's own verdict, in the words of a page. */
export type Difference = {
  verdict: Verdict
  checks: ShownCheck[]
  /** Undefined for what is neither good nor bad: a signer that is not known. */
  stamp: StampWords | undefined
  state: string
  /** The evidence behind the verdict, in words. */
  evidence: string
}

/**
 * Judges by the verifier that is loaded for it. `isBrief`: the slip leaves lines out and shortens
 * hashes, as on the landing page. @throws Error where the verifier does not load.
 */
export async function judgePage(isBrief: boolean): Promise<Difference | undefined> {
  const { module, evidenceModule, payload } = document.getElementById('payload')?.dataset ?? {}
  if (!module || !payload) return undefined
  const verifier: Verifier = await import(module)
  const { file, evidence, upstreamKeys, ...trusted }: PagePayload = JSON.parse(payload)
  const trust = { ...verifier.toTrust(trusted), ...(upstreamKeys && { upstreamKeys }) }
  const attested = evidence && (await evidenceVerifier(evidenceModule)).evidenceCheck(evidence)
  const verdict = verifier.verify({ file, attested }, trust)
  const judged = { verdict, file, now: trusted.now }
  const due = verdict.receipt_id === null ? undefined : dueOn(verifier, file.receipt, verdict)
  const other = due && slipFault(isBrief ? due.filter(isShown) : due, isBrief)
  return {
    verdict,
    checks: [...verifier.shownChecks(judged), ...(other ? [other] : [])],
    stamp: other ? otherSlip : verifier.stampWords(verdict, verifier.proofIn(judged)),
    state: other ? otherSlip.words : verifier.stateWords(verdict),
    evidence: other ? '' : verifier.evidenceOf(verdict),
  }
}

const evidenceVerifier = (path = ''): Promise<EvidenceVerifier> => import(path)

const otherSlip: StampWords = { words: 'Not valid', against: 'see the checks', isBad: true }

/** A line of a slip; the id and the total have no name. */
type ExpectedText = { name?: string; value: string }

/** The lines that the slip of this receipt must show, in order. */
const dueOn = (
  { slipLines, totalOf, hiddenWords }: Verifier,
  receipt: Receipt,
  verdict: Verdict,
): ExpectedText[] => [
  { value: receipt.id },
  ...slipLines(receipt, verdict).map(([name, value]) => ({ name, value: value ?? hiddenWords })),
  { value: totalOf(receipt)?.join('') ?? hiddenWords },
]

const slipTexts = (places: string): string[] =>
  [...document.querySelectorAll(places)].map(({ textContent }) => textContent ?? '')

const isShown = ({ name }: ExpectedText): boolean =>
  name === undefined || slipTexts('.slip dt').includes(name)

/** Whether the slip says something else than the receipt that was judged. */
function slipFault(due: readonly ExpectedText[], isBrief: boolean): ShownCheck | undefined {
  const words = due.flatMap(({ name, value }) => (name === undefined ? [value] : [name, value]))
  const places = '.slip :is(h1, h2), .slip dt, .slip dd, .slip .total > :last-child'
  const found = slipTexts(places)
  const at = Math.max(words.length, found.length)
  for (let i = 0; i < at; i++) {
    const [expected = 'nothing', said = 'nothing'] = [words[i], found[i]]
    if (expected === said || (isBrief && isShort(said, expected))) continue
    const detail = `Expected “${expected}” as in the file; found “${said}” on this page.`
    return { result: 'bad', label: 'The slip does not match the file', detail }
  }
  return undefined
}

/** Whether a hash is shown by its two ends. */
function isShort(said: string, whole: string): boolean {
  const [start = '', end] = said.split('…')
  if (end === undefined || !whole.startsWith('0x')) return false
  return said.length > 10 && whole.startsWith(start) && whole.endsWith(end)
}
