import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { type AskChain, askRegistry, verifyWithChain } from '../proof/receipts/evidence.ts'
import type { LogEvidence } from '../verify/check-log.ts'
import type { TrustedSigner } from '../verify/checks.ts'
import { type JsonText, readJsonText } from '../verify/json-text.ts'
import { isObject, isReceiptFile } from '../verify/receipt.ts'
import { headlineOf, kindOf, summaryOf } from '../verify/verdict-words.ts'
import { type Trust, type Verdict, type VerifyInput, verifyReceipt } from '../verify/verify.ts'
import { openRpc } from './chain.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { readAddress } from './values.ts'

/** Largest file that is read: a receipt with its texts. */
const fileBytes = 1024 * 1024

/** `verify <file>`: offline unless `--rpc` is given; needs no server, database or configuration. */
export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check a receipt file, offline; with --rpc also its anchor on the chain')
    .argument('[receipt.json]')
    .option(
      '--signer <0x…>',
      'who may sign; @from-until adds which part of the log, as in /v1/signer; repeatable',
      addSigner,
      [],
    )
    .option('--issuer <origin>', 'origin the receipt must be from')
    .option('--proof <file>', 'answer of GET /v1/receipts/<id>/proof, if the file lacks it')
    .option('--anchors <file>', 'answer of GET /v1/anchors?from=<size>, to compare checkpoints')
    .option('--rpc <url>', 'a JSON-RPC server of chain 4663 that you trust')
    .option('--registry <0x…>', 'the anchor registry; never taken from the file', readAddress)
    .option('--owner <0x…>', 'who opened the log there; else the file says', readAddress)
    .option('--require-chain', 'fail unless the anchor was checked on the chain and is final')
    .option('--json', 'print the whole verdict as JSON')
    .option('--page <out.html>', 'write a page that checks receipts in any browser, offline')
    .option('--force', 'let --page replace a file')
    .action(async (path: string | undefined, options: Options) => {
      if (options.page !== undefined) return writePage(options.page, path, options.force === true)
      if (path === undefined) throw new Exit(exitCodes.usage, 'name a file: verify receipt.json')
      const hasSigners = options.signer.length > 0
      const verdict = await judge(readInput(path, options), options)
      if (options.json) printJson(verdict)
      else show(verdict, hasSigners)
      process.exitCode = exitCodeOf(verdict, hasSigners)
    })
}

function judge(input: VerifyInput, options: Options): Promise<Verdict> {
  const trust: Trust = {
    ...(options.signer.length > 0 && { signers: options.signer }),
    ...(options.issuer !== undefined && { issuers: [options.issuer] }),
  }
  const chain = options.requireChain ? 'require' : 'auto'
  const how = { chain, verifiedAt: toRfc3339(systemClock.now()) } as const
  const ask = askedChain(options)
  return ask ? verifyWithChain(input, trust, how, ask) : verifiedOffline(input, trust, how)
}

const verifiedOffline = async (...asked: Parameters<typeof verifyReceipt>): Promise<Verdict> =>
  verifyReceipt(...asked)

/** How to ask the chain, undefined when nobody is to be asked. @throws Exit 2 */
function askedChain({ rpc, registry, owner }: Options): AskChain | undefined {
  if (rpc === undefined && registry === undefined && owner === undefined) return undefined
  if (rpc === undefined || registry === undefined) {
    const why = 'To ask the chain, name --rpc and --registry: a file cannot say whom to believe.'
    throw new Exit(exitCodes.usage, why)
  }
  const chain = openRpc(rpc)
  return async (claim) => {
    const { anchor } = claim.proof
    const named = anchor.status === 'disabled' ? undefined : anchor.log_owner
    const from = owner ?? named
    if (from === undefined) {
      const reason = 'The file does not say who opened the log on the chain. Name it: --owner 0x…'
      return { status: 'unavailable', reason }
    }
    const evidence = await askRegistry({ chain, registry, owner: from }, claim)
    if (owner !== undefined || evidence.status !== 'read') return evidence
    const note = `Its owner ${from} is the one that the file names; --owner 0x… fixes it.`
    return { ...evidence, note }
  }
}

/** `0x…`, `0x…@12-` or `0x…@12-40`: the index behind the last is no part of it. */
function addSigner(text: string, signers: TrustedSigner[]): TrustedSigner[] {
  const [address = '', range] = text.split('@')
  const trusted = { address: readAddress(address) }
  if (range === undefined) return [...signers, trusted]
  const [, from, until] = /^(\d{1,15})-(\d{1,15})?$/.exec(range) ?? []
  if (from === undefined) {
    throw new InvalidArgumentError('the part of the log is written @from- or @from-until')
  }
  const end = until === undefined ? {} : { untilIndex: BigInt(until) }
  return [...signers, { ...trusted, fromIndex: BigInt(from), ...end }]
}

type Options = {
  signer: TrustedSigner[]
  issuer?: string
  proof?: string
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
 * The receipt and what lies beside it; the verifier reads all of it strictly.
 * @throws Exit 2 for what cannot be read as a receipt at all
 */
function readInput(path: string, { proof, anchors }: Options): VerifyInput {
  const file = readJsonFile(path)
  if (!isReceiptFile(file.value)) throw new Exit(exitCodes.usage, `${path} is no receipt file`)
  const beside = proof === undefined ? undefined : readJsonFile(proof)
  const answer = anchors === undefined ? undefined : readJsonFile(anchors)
  return {
    file: file.value,
    ...(beside && { proof: beside.value }),
    ...(answer && toEvidence(answer.value, anchors ?? '')),
    problems: [file, beside, answer].flatMap((read) => read?.repeated ?? []),
  }
}

/** @throws Exit 2 */
function toEvidence(answer: unknown, path: string): LogEvidence {
  if (!isObject(answer) || !isObject(answer['log']) || !isObject(answer['log']['checkpoint'])) {
    throw new Exit(exitCodes.usage, `${path} is no answer of GET /v1/anchors`)
  }
  const { checkpoint } = answer['log']
  return { checkpoint, consistency: answer['consistency'] }
}

/** @throws Exit 2 */
function readJsonFile(path: string): JsonText {
  const unreadable = (why: string): never => {
    throw new Exit(exitCodes.usage, `${path} ${why}`)
  }
  let text: string
  try {
    if (statSync(path).size > fileBytes) return unreadable('is larger than 1 MiB')
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Exit) throw error
    return unreadable('cannot be read')
  }
  return readJsonText(text) ?? unreadable('is not JSON')
}

/** @throws Exit 2 for a file that is there already, and for one beside it that is to be checked. */
async function writePage(out: string, receipt: string | undefined, force: boolean): Promise<void> {
  if (receipt !== undefined) {
    throw new Exit(exitCodes.usage, '--page writes the page that checks; it checks no file itself')
  }
  // Its script is bundled when this is read: nobody else pays for it.
  const { verifyPage } = await import('../proof/receipts/verify-page.ts')
  try {
    writeFileSync(out, verifyPage, { flag: force ? 'w' : 'wx', mode: 0o644 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'is there already; --force replaces it' : 'cannot be written'
    throw new Exit(exitCodes.usage, `${out} ${why}`)
  }
  say(`${out}: open it in any browser. It asks nobody and works without a network.`)
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
  if (kind !== 'unsure') print(`${headlineOf(verdict)}. ${summaryOf(verdict)}`)
  else if (hasSigners) say(summaryOf(verdict))
  else {
    say('Nobody was named as trusted, so this says only what holds. Name whom you trust with')
    say(`--signer; this one was signed by ${verdict.signer}.`)
  }
}
