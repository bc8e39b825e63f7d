/** The auditor's own papers: receipts that have to be in the log, and the quotes they name. */
import { type Hex, toHex } from '../../kernel/hex.ts'
import {
  fail,
  type Outcome,
  pass,
  quotePrefix,
  skip,
  told,
  unavailable,
} from '../../verify/checks.ts'
import type { JsonText } from '../../verify/json-text.ts'
import { leafKinds } from '../../verify/merkle.ts'
import { parseProof } from '../../verify/proof.ts'
import { isQuoteFile, parseQuoteFile, quoteCheck, quoteDigest } from '../../verify/quote.ts'
import { isHidden, parseReceiptFile, type Receipt } from '../../verify/receipt.ts'
import { type Trust, type Verdict, verifyReceipt } from '../../verify/verify.ts'
import { count, type KnownHead } from './service-view.ts'

/** A file of the auditor, as parsed JSON. */
export type Paper = JsonText & { name: string }

/** A receipt with the verdict on it, and its place as its proof claims it. */
type HeldPaper = {
  name: string
  issuer: string
  verdict: Verdict
  place: { index: number; head: KnownHead } | undefined
  /** The file of the quote that it names; null where it names one that is not there. */
  quote: string | null | undefined
}

export type Papers = {
  receipts: readonly HeldPaper[]
  /** The heads under which their proofs lead. */
  heads: KnownHead[]
  /** Notes the places of their digests, entry by entry. */
  seeEntry(index: number, bytes: Uint8Array): void
  /** Each receipt holds, and is where its proof says. Asked when all entries were seen. */
  checkReceipts(log: { origin: string; size: number }): Outcome
  /** Each receipt that names a quote kept it. */
  checkQuotes(): Outcome
}

/** Judges the papers; where they are in the log is told when its entries were seen. */
export function readPapers(papers: readonly Paper[], trust: Trust): Papers {
  const quotes = quotesIn(papers)
  const receipts = papers
    .filter(({ value }) => !isQuoteFile(value))
    .map((paper) => readReceipt(paper, trust, quotes))
  const places = new Map<Hex, number[]>()
  for (const { verdict } of receipts) if (verdict.digest) places.set(verdict.digest, [])
  const named = receipts.filter(({ quote }) => quote !== undefined)
  return {
    receipts,
    heads: receipts.flatMap(({ place }) => place?.head ?? []),
    seeEntry: (index, bytes) => {
      if (places.size === 0 || bytes[0] !== leafKinds.receipt) return
      places.get(toHex(bytes.subarray(1)))?.push(index)
    },
    checkReceipts: (log) => {
      if (receipts.length === 0) return skip('No receipts were given: --papers names them.')
      const outcomes = receipts.map((held) => receiptOutcome(held, log, places))
      const done = `${count(receipts.length, 'receipt')}, each valid and in the tiles.`
      return worstOf(outcomes) ?? pass(done)
    },
    checkQuotes: () => {
      if (named.length === 0) return skip('No receipt that was given names a quote.')
      const kept = `${count(named.length, 'receipt')}, each charged as its signed quote says.`
      return worstOf(named.map(quoteOutcome)) ?? pass(kept)
    },
  }
}

/** The first that fails, else the first that could not be checked. */
const worstOf = (outcomes: readonly Outcome[]): Outcome | undefined =>
  outcomes.find(({ status }) => status === 'fail') ??
  outcomes.find(({ status }) => status === 'unavailable')

/** Readable quotes by their digests. */
function quotesIn(papers: readonly Paper[]): Map<string, Paper> {
  const found = new Map<string, Paper>()
  for (const paper of papers) {
    if (!isQuoteFile(paper.value) || paper.repeated.length > 0) continue
    const file = parseQuoteFile(paper.value, [])
    if (file) found.set(toHex(quoteDigest(file.quote)), paper)
  }
  return found
}

function readReceipt(paper: Paper, trust: Trust, quotes: ReadonlyMap<string, Paper>): HeldPaper {
  const { name, value, repeated } = paper
  const parsed = parseReceiptFile(value)
  const receipt = parsed.ok ? parsed.file.receipt : undefined
  const wanted = receipt && quoteOf(receipt)
  const quote = wanted === undefined ? undefined : quotes.get(wanted)
  const check = quote && quoteCheck(quote.value)
  const input = { file: value, problems: repeated, ...(check && { quote: check }) }
  return {
    name,
    issuer: receipt?.issuer ?? '',
    verdict: verifyReceipt(input, trust, { chain: 'skip' }),
    place: parsed.ok ? placeOf(name, parsed.file) : undefined,
    quote: wanted === undefined ? undefined : (quote?.name ?? null),
  }
}

/** The digest of the quote that a receipt names. */
function quoteOf({ charge }: Receipt): string | undefined {
  const isQuoted = !isHidden(charge) && charge.priceList.startsWith(quotePrefix)
  return isQuoted ? charge.priceList.slice(quotePrefix.length) : undefined
}

function placeOf(name: string, { receipt, proof: given }: { receipt: Receipt; proof?: unknown }) {
  const proof = parseProof(given, receipt.id, [])
  if (!proof) return undefined
  const { size, root } = proof.checkpoint
  const head = { what: `the proof in ${told(name)}`, size: Number(size), root }
  return { index: Number(proof.index), head }
}

function receiptOutcome(
  { name, issuer, verdict, place }: HeldPaper,
  { origin, size }: { origin: string; size: number },
  places: ReadonlyMap<Hex, readonly number[]>,
): Outcome {
  const file = told(name)
  const wrong = verdict.checks.find((check) => check.status === 'fail' && check.name !== 'quote')
  if (wrong) return fail(`${file}: ${wrong.name}: ${wrong.reason}`)
  if (issuer !== origin) {
    return unavailable(`${file}: it is in the log of ${told(issuer)}. Audit that one with it.`)
  }
  const found = (verdict.digest && places.get(verdict.digest)) || []
  if (place && place.index < size && !found.includes(place.index)) {
    const digest = `has another digest than ${verdict.digest}`
    return fail(`${file}: entry ${place.index} of the log ${digest}. Keep the file as evidence.`)
  }
  if (found.length === 0) {
    const where = place ? `its index is ${place.index}` : 'it has no proof'
    const what = 'Fetch newer tiles, or the receipt with its proof'
    return unavailable(`${file}: not among the first ${size} entries; ${where}. ${what}.`)
  }
  const signer = verdict.checks.find((check) => check.name === 'signer_authorized')
  if (signer?.status === 'pass') return pass('')
  return unavailable(`${file}: no trusted key signed it: name signers in a --policy.`)
}

function quoteOutcome({ name, verdict, quote }: HeldPaper): Outcome {
  if (quote === null) {
    const what = 'save the answer of GET /v1/quotes/<id> among the --papers'
    return unavailable(`${told(name)}: the quote that it names is not there: ${what}.`)
  }
  const check = verdict.checks.find((one) => one.name === 'quote')
  if (check?.status === 'pass') return pass('')
  const reason = `${told(name)} and ${told(quote ?? '')}: ${check?.reason}`
  return check?.status === 'fail' ? fail(reason) : unavailable(reason)
}
