/** Summarises the checks of a receipt for a page. */
import type { Check, CheckName } from './checks.ts'
import { meterInText } from './meter-words.ts'
import type { Proof, ProofAnchor } from './proof.ts'
import type { ReceiptFile } from './receipt.ts'
import { totalOf } from './slip-lines.ts'
import { kindOf, levelWords, titleOf } from './verdict-words.ts'
import type { Verdict } from './verify.ts'

/** A few checks together, as a page tells them: what was found, and the figures behind it. */
export type ShownCheck = { result: 'ok' | 'wait' | 'bad'; label: string; detail: string }

type JudgedFile = {
  verdict: Verdict
  /** The receipt that `verdict` is about, with its proof. */
  file: Pick<ReceiptFile, 'receipt' | 'proof'>
  /** Milliseconds since 1970, for how long something may still take. */
  now: number
}

/** The checks of a receipt in plain words, those that fail with what was expected and found. */
export function shownChecks(judged: JudgedFile): ShownCheck[] {
  const { checks } = judged.verdict
  if (judged.verdict.receipt_id === null) {
    return checks.filter(({ status }) => status === 'fail').map(failed)
  }
  return parts.flatMap(({ names, tell }) => {
    const own = names.flatMap((name) => checks.find((check) => check.name === name) ?? [])
    const wrong = own.filter(({ status }) => status === 'fail')
    return wrong.length > 0 ? wrong.map(failed) : (tell(own, judged) ?? [])
  })
}

type Part = {
  names: readonly CheckName[]
  /** Describes these checks, none of which failed; undefined shows no line. */
  tell: (own: readonly Check[], judged: JudgedFile) => ShownCheck | undefined
}

const failed = (check: Check): ShownCheck => ({
  result: 'bad',
  label: titleOf(check),
  detail: check.reason,
})

const ok = (label: string, detail: string): ShownCheck => ({ result: 'ok', label, detail })
const wait = (label: string, detail: string): ShownCheck => ({ result: 'wait', label, detail })

const isPass = ({ status }: Check): boolean => status === 'pass'
/** Why the first of these that did not pass did not. */
const whyNot = (own: readonly Check[]): string => own.find((one) => !isPass(one))?.reason ?? ''

/** Tells a check that passes, and leaves out all others. */
const onPass =
  (label: string): Part['tell'] =>
  ([own]) =>
    own && isPass(own) ? ok(label, own.reason) : undefined

const parts: readonly Part[] = [
  {
    names: ['schema', 'digest', 'signature', 'signer_authorized'],
    tell: (own, { verdict }) =>
      own.every(isPass)
        ? ok('Signature is from this service', `EIP-712, recovered ${shortHex(verdict.signer)}`)
        : wait('Signer is not known', whyNot(own)),
  },
  { names: ['issuer', 'known_here'], tell: () => undefined },
  { names: ['arithmetic'], tell: tellTotal },
  { names: ['quote'], tell: onPass('Quote was kept') },
  { names: ['leaf', 'inclusion', 'checkpoint_signature', 'checkpoint_consistent'], tell: tellLog },
  { names: ['witnessed'], tell: tellWitnesses },
  { names: ['attested'], tell: onPass('Upstream signed its answer') },
  { names: ['anchor', 'anchor_final'], tell: tellAnchor },
  {
    names: ['content_input', 'content_output'],
    tell: (own) => {
      const opened = own.filter(isPass)
      if (opened.length === 0) return undefined
      const names = opened.map(({ name }) => (name === 'content_input' ? 'input' : 'output'))
      const which = names.join(' and ')
      return ok('Shown text is the one committed to', `Salt and text open the ${which} hash`)
    },
  },
]

function tellTotal(own: readonly Check[], { file }: JudgedFile): ShownCheck {
  const { charge } = file.receipt
  const total = totalOf(file.receipt)
  if (!own.every(isPass) || '$hash' in charge || !total) {
    return wait('Total is hidden', 'The owner does not show the charge')
  }
  const lines = charge.lines.map(
    ({ meter, quantity }) => `${grouped(quantity)} ${meterInText(meter)}`,
  )
  return ok('Total adds up', `${lines.join(' + ') || 'Nothing used'} = ${total.join('')}`)
}

function tellLog(own: readonly Check[], judged: JudgedFile): ShownCheck {
  const proof = proofIn(judged)
  const needed = own.filter(({ name }) => name !== 'checkpoint_consistent')
  if (!proof || !needed.every(isPass)) return wait('Place in the log is not shown', whyNot(needed))
  const hashes = proof.path.length === 1 ? '1 hash' : `${proof.path.length} hashes`
  const place = `Leaf ${grouped(String(BigInt(proof.index) + 1n))} of ${grouped(proof.size)}`
  return ok('Receipt is in the log', `${place}, ${hashes} to the root`)
}

/** Leaves out witnesses that the reader does not know. */
function tellWitnesses([own]: readonly Check[], { verdict }: JudgedFile): ShownCheck | undefined {
  if (!own || own.status === 'skip') return undefined
  const { length } = verdict.witnesses
  return isPass(own)
    ? ok(`Seen by ${length} witness${length === 1 ? '' : 'es'}`, own.reason)
    : wait('Not seen by witnesses yet', own.reason)
}

function tellAnchor(own: readonly Check[], judged: JudgedFile): ShownCheck {
  const [anchor, final] = own
  const proof = proofIn(judged)
  if (!proof) return wait('Not on a chain', 'There is no proof that could be')
  const where = placeText(proof.anchor)
  if (anchor && final && isPass(anchor)) {
    const finality = isPass(final) ? 'final' : 'not final yet'
    const read = `${finality}, as this service read it there`
    return ok('Root is on chain 4663', [where, read].filter(Boolean).join(', '))
  }
  if (where) {
    return wait('Not confirmed by the chain', `This service says: ${where}. ${whyNot(own)}`)
  }
  const label =
    proof.anchor.status === 'disabled' ? 'Not anchored on a chain' : 'Waiting for the anchor'
  return wait(label, waitingWords(proof.anchor, judged.now))
}

/** The proof of a file that was judged, where it could be read. */
export function proofIn({ verdict, file }: Omit<JudgedFile, 'now'>): Proof | undefined {
  const isRead = verdict.checks.some((check) => check.name === 'schema' && isPass(check))
  return isRead ? ((file.proof ?? undefined) as Proof | undefined) : undefined
}

/** The block and transaction that the service claims for an anchor; empty before it has one. */
function placeText(anchor: ProofAnchor): string {
  if (anchor.status !== 'confirmed' && anchor.status !== 'final') return ''
  return `Block ${grouped(anchor.block_number)}, tx ${shortHex(anchor.tx_hash)}`
}

/** How far a receipt is that is not anchored, and how long that may take. */
export function waitingWords(anchor: ProofAnchor, now: number): string {
  if (anchor.status === 'disabled') return 'Signed and logged. This service anchors nothing.'
  const words = 'Signed and logged, waiting for the anchor'
  if (anchor.status === 'superseded') return `${words} of a larger log: ask for the proof again`
  const by = 'expected_by' in anchor ? Date.parse(anchor.expected_by ?? '') : Number.NaN
  const minutes = Math.max(1, Math.ceil((by - now) / 60_000))
  return Number.isNaN(minutes) ? `${words}, which is late` : `${words}, about ${minutes} min`
}

/** The stamp on a slip: the verdict, and what it was checked against. */
export type StampWords = { words: string; against: string; isBad: boolean }

export function stampWords(verdict: Verdict, proof: Proof | undefined): StampWords | undefined {
  if (kindOf(verdict) === 'bad') {
    return { words: 'Not valid', against: 'see the checks', isBad: true }
  }
  const { level } = verdict
  if (!verdict.valid || level === null) return undefined
  const isOnChain = level === 'anchored' || level === 'final'
  const against = isOnChain
    ? `chain 4663 · anchor of ${grouped(proof?.size ?? '')}`
    : levelWords[level].toLowerCase()
  return { words: 'Verified', against, isBad: false }
}

/** The state of a receipt in a word or two. */
export function stateWords(verdict: Verdict): string {
  if (kindOf(verdict) === 'bad') return 'Not valid'
  return verdict.level === null ? 'Undecided' : levelWords[verdict.level]
}

const shortHex = (hex: string | null): string =>
  hex === null ? 'unknown' : hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex

const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+$)/g, ',')
