/** `verify <file>`: checks a receipt without a server, database or configuration. */
import { writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { type AskChain, askRegistry, verifyWithChain } from '../proof/receipts/evidence.ts'
import type { LogEvidence } from '../verify/check-log.ts'
import { type TrustedSigner, told } from '../verify/checks.ts'
import type { JsonText } from '../verify/json-text.ts'
import { isLiabilitiesFile, type LiabilitiesTrust } from '../verify/liabilities.ts'
import { isUpstreamKey, type Policy, parseSigner, trustBy } from '../verify/policy.ts'
import { isQuoteFile, quoteCheck } from '../verify/quote.ts'
import { isObject, isReceiptFile } from '../verify/receipt.ts'
import { evidenceCheck, isEvidenceFile } from '../verify/upstream-evidence.ts'
import { headlineOf, kindOf, summaryOf, wordFor } from '../verify/verdict-words.ts'
import { type Trust, type Verdict, type VerifyInput, verifyReceipt } from '../verify/verify.ts'
import { openRpc } from './chain.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { fileBytes, readJsonFile, readPolicyFile, readText } from './read-files.ts'
import { withAnswer } from './saved-answer.ts'
import { readAddress, readDuration } from './values.ts'
import { isExport, verifyExport } from './verify-export.ts'
import { verifyLiabilities } from './verify-liabilities.ts'

export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description(
      'check a receipt, an export or a liabilities proof, offline; with --rpc also the chain',
    )
    .argument('[file]')
    .option(
      '--signer <0x…>',
      'a trusted signer; @from-until limits it to log indexes, as in /v1/signer; repeatable',
      addSigner,
      [],
    )
    .option(
      '--policy <file>',
      'whom to trust and what to require: signers, witnesses, quorum, chain',
    )
    .option('--tlog <file>', 'the proof under a head that witnesses signed, if the file lacks it')
    .option('--issuer <origin>', 'origin that must have issued the receipt')
    .option('--proof <file>', 'response of GET /v1/receipts/<id>/proof, if the file lacks it')
    .option('--answer <file>', 'the answer as you saved it, to check that the receipt is of it')
    .option('--quote <file>', 'the quote that it names, to check that it was kept')
    .option(
      '--evidence <file>',
      'what the upstream signed of the run: ?format=evidence of its proof',
    )
    .option(
      '--upstream-key <0x…>',
      'a key of an upstream that you know signs its answers; repeatable',
      addUpstreamKey,
      [],
    )
    .option('--manifest <file>', 'of an export in CSV, as GET /v1/usage/export/manifest gave it')
    .option('--account <0x…>', 'the account that a liabilities statement must count', readAddress)
    .option('--max-age <48h>', 'how old such a statement may be: 48h, 7d', readDuration)
    .option('--anchors <file>', 'response of GET /v1/anchors?from=<size>, to compare checkpoints')
    .option('--rpc <url>', 'a JSON-RPC server of chain 4663 that you trust')
    .option('--registry <0x…>', "anchor registry; the file's own claim is not trusted", readAddress)
    .option(
      '--owner <0x…>',
      'wallet that opened the log there; default: as the file claims',
      readAddress,
    )
    .option('--require-chain', 'fail unless the anchor is final on the chain')
    .option('--json', 'print the whole verdict as JSON')
    .option('--page <out.html>', 'write a page that checks receipts in any browser, offline')
    .option('--force', 'let --page replace an existing file')
    .action(async (path: string | undefined, options: Options) => {
      if (options.page !== undefined) return writePage(options.page, path, options.force === true)
      if (path === undefined) throw new Exit(exitCodes.usage, 'name a file: verify receipt.json')
      if (isExport(path, options.manifest)) return verifyExport(path, options)
      // Flags go before it.
      const policy = readPolicyFile(options)
      const hasSigners = options.signer.length > 0 || policy?.signers !== undefined
      const file = readJsonFile(path)
      if (isLiabilitiesFile(file.value)) {
        return verifyLiabilities(file, liabilitiesTrust(options, policy), options.json === true)
      }
      const verdict = await judge(readInput(path, file, options), options, policy)
      if (options.json) printJson(verdict)
      else show(verdict, hasSigners)
      process.exitCode = exitCodeOf(verdict, hasSigners)
    })
}

/** Whom to trust; flags go before the policy. */
const trustOf = (options: Options, policy: Policy | undefined): Trust => ({
  ...(policy && trustBy(policy)),
  ...(options.signer.length > 0 && { signers: options.signer }),
  ...(options.issuer !== undefined && { issuers: [options.issuer] }),
  ...(options.upstreamKey.length > 0 && { upstreamKeys: options.upstreamKey }),
})

function liabilitiesTrust(options: Options, policy: Policy | undefined): LiabilitiesTrust {
  const { account, maxAge } = options
  const { signers, issuers } = trustOf(options, policy)
  return { signers, issuers, account, since: maxAge && systemClock.now() - maxAge }
}

function judge(input: VerifyInput, options: Options, policy: Policy | undefined): Promise<Verdict> {
  const trust = trustOf(options, policy)
  const chain = options.requireChain ? 'require' : (policy?.chain ?? 'auto')
  const how = { chain, verifiedAt: toRfc3339(systemClock.now()) } as const
  const ask = askedChain(options)
  return ask ? verifyWithChain(input, trust, how, ask) : verifiedOffline(input, trust, how)
}

const verifiedOffline = async (...asked: Parameters<typeof verifyReceipt>): Promise<Verdict> =>
  verifyReceipt(...asked)

/** How to query the chain; undefined without --rpc. @throws Exit 2 */
function askedChain({ rpc, registry, owner }: Options): AskChain | undefined {
  if (rpc === undefined && registry === undefined && owner === undefined) return undefined
  if (rpc === undefined || registry === undefined) {
    const why = 'Checking the chain needs both --rpc and --registry; the file cannot supply them.'
    throw new Exit(exitCodes.usage, why)
  }
  const chain = openRpc(rpc)
  return async (claim) => {
    const { anchor } = claim.proof
    const named = anchor.status === 'disabled' ? undefined : anchor.log_owner
    const from = owner ?? named
    if (from === undefined) {
      const reason = 'The file does not say who opened the log on the chain. Add --owner 0x…'
      return { status: 'unavailable', reason }
    }
    const evidence = await askRegistry({ chain, registry, owner: from }, claim)
    if (owner !== undefined || evidence.status !== 'read') return evidence
    const note = `The owner ${from} is only the file's claim; pin it with --owner 0x…`
    return { ...evidence, note }
  }
}

/** `0x…`, `0x…@12-` or `0x…@12-40`; the end is exclusive. */
function addSigner(text: string, signers: TrustedSigner[]): TrustedSigner[] {
  const [address = ''] = text.split('@')
  readAddress(address)
  const found = parseSigner(text)
  if (found) return [...signers, found]
  throw new InvalidArgumentError('expected a log range as @from- or @from-until')
}

function addUpstreamKey(text: string, keys: string[]): string[] {
  if (isUpstreamKey(text)) return [...keys, text]
  throw new InvalidArgumentError('expected a key by which upstreams sign, such as 0x…')
}

type Options = {
  policy?: string
  tlog?: string
  signer: TrustedSigner[]
  issuer?: string
  proof?: string
  answer?: string
  quote?: string
  evidence?: string
  upstreamKey: string[]
  manifest?: string
  account?: string
  maxAge?: number
  anchors?: string
  rpc?: string
  registry?: string
  owner?: string
  requireChain?: boolean
  json?: boolean
  page?: string
  force?: boolean
}

/**
 * The receipt file, with the proof and anchors given beside it.
 * @throws Exit 2 if a file cannot be read as what it should be
 */
function readInput(path: string, file: JsonText, options: Options): VerifyInput {
  const { proof, answer: saved, anchors, quote, tlog } = options
  if (!isReceiptFile(file.value)) throw new Exit(exitCodes.usage, `${path} is not a receipt file`)
  const beside = proof === undefined ? undefined : readJsonFile(proof)
  const answer = anchors === undefined ? undefined : readJsonFile(anchors)
  const promised = quote === undefined ? undefined : readQuote(quote)
  const signed = options.evidence === undefined ? undefined : readEvidence(options.evidence)
  return {
    file: file.value,
    ...(saved !== undefined && { disclosures: withAnswer(file.value, saved) }),
    ...((beside || tlog) && { proof: withTlog(beside?.value ?? proofOf(file.value), tlog) }),
    ...(promised && { quote: quoteCheck(promised.value) }),
    ...(signed && { attested: evidenceCheck(signed.value, signed.repeated) }),
    ...(answer && toEvidence(answer.value, anchors ?? '')),
    problems: [file, beside, answer, promised].flatMap((read) => read?.repeated ?? []),
  }
}

const proofOf = (file: unknown): unknown => (isObject(file) ? file['proof'] : undefined)

/** A proof with that of a file of c2sp.org/tlog-proof beside it. @throws Exit 2 */
function withTlog(proof: unknown, path: string | undefined): unknown {
  if (path === undefined) return proof
  if (!isObject(proof)) throw new Exit(exitCodes.usage, '--tlog needs a proof: add --proof')
  return { ...proof, version: '2', tlog: readText(path, fileBytes) }
}

/** @throws Exit 2 */
function readQuote(path: string): JsonText {
  const read = readJsonFile(path)
  if (isQuoteFile(read.value)) return read
  throw new Exit(exitCodes.usage, `${path} is not a quote: save the answer of POST /v1/quotes`)
}

/** @throws Exit 2 */
function readEvidence(path: string): JsonText {
  const read = readJsonFile(path)
  if (isEvidenceFile(read.value)) return read
  const why = 'is not the answer of GET /v1/receipts/<id>/proof?format=evidence'
  throw new Exit(exitCodes.usage, `${path} ${why}`)
}

/** @throws Exit 2 */
function toEvidence(answer: unknown, path: string): LogEvidence {
  if (!isObject(answer) || !isObject(answer['log']) || !isObject(answer['log']['checkpoint'])) {
    throw new Exit(exitCodes.usage, `${path} is not a response of GET /v1/anchors`)
  }
  const { checkpoint } = answer['log']
  return { checkpoint, consistency: answer['consistency'] }
}

/** @throws Exit 2 if `out` exists, or a receipt to check is named too */
async function writePage(out: string, receipt: string | undefined, force: boolean): Promise<void> {
  if (receipt !== undefined) {
    throw new Exit(
      exitCodes.usage,
      '--page only writes the checking page; verify the file in a separate call',
    )
  }
  // Imported on demand: the module holds a whole bundled script.
  const { verifyPage } = await import('../proof/receipts/verify-page.ts')
  try {
    writeFileSync(out, verifyPage, { flag: force ? 'w' : 'wx', mode: 0o644 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'already exists; --force replaces it' : 'cannot be written'
    throw new Exit(exitCodes.usage, `${out} ${why}`)
  }
  say(`${out}: open it in any browser. It works offline and contacts no server.`)
}

function exitCodeOf(verdict: Verdict, hasSigners: boolean): number {
  const kind = kindOf(verdict)
  if (kind === 'bad') return exitCodes.failed
  return kind === 'good' && hasSigners ? 0 : exitCodes.unavailable
}

const marks = { pass: '✓', fail: '✗', skip: '-', unavailable: '?' } as const

function show(verdict: Verdict, hasSigners: boolean): void {
  for (const { name, status, reason } of verdict.checks) {
    print(`${marks[status]} ${name.padEnd(22)} ${reason}`)
  }
  const kind = kindOf(verdict)
  const names = verdict.witnesses.map(({ name }) => told(name)).join(', ')
  const words = verdict.evidence.map((one) => wordFor(one, names))
  if (words.length > 0) print(`Rests on: ${words.join(', ')}.`)
  if (kind !== 'unsure') print(`${headlineOf(verdict)}. ${summaryOf(verdict)}`)
  else if (hasSigners) say(summaryOf(verdict))
  else {
    say('No trusted signer was named, so the signer itself was not checked. Name one with')
    say(`--signer; this receipt was signed by ${verdict.signer}.`)
  }
}
