import { readFileSync, statSync } from 'node:fs'
import type { Command } from 'commander'
import { systemClock, toRfc3339 } from '../kernel/clock.ts'
import { isAddress } from '../verify/address.ts'
import type { LogEvidence } from '../verify/check-log.ts'
import { isObject, isReceiptFile } from '../verify/receipt.ts'
import { type Verdict, verifyReceipt } from '../verify/verify.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'

/** Largest file that is read: a receipt with its texts. */
const fileBytes = 1024 * 1024

/** `verify <file>`: offline; needs no server, no database and no configuration. */
export function verifyCommand(program: Command): void {
  program
    .command('verify')
    .description('check a receipt file, offline')
    .argument('<receipt.json>')
    .option('--signer <0x…>', 'address that is trusted to sign; repeatable', addSigner, [])
    .option('--issuer <origin>', 'origin the receipt must be from')
    .option('--proof <file>', 'answer of GET /v1/receipts/<id>/proof, if the file lacks it')
    .option('--anchors <file>', 'answer of GET /v1/anchors?from=<size>, to compare checkpoints')
    .option('--json', 'print the whole verdict as JSON')
    .action((path: string, options: Options) => {
      const verdict = verifyReceipt(
        { file: readReceipt(path), ...readEvidence(options) },
        {
          ...(options.signer.length > 0
            ? { signers: options.signer.map((address) => ({ address })) }
            : {}),
          ...(options.issuer ? { issuers: [options.issuer] } : {}),
        },
        { chain: 'auto', verifiedAt: toRfc3339(systemClock.now()) },
      )
      if (options.json) printJson(verdict)
      else show(verdict, options.signer.length > 0)
      process.exitCode = exitCodeOf(verdict, options.signer.length > 0)
    })
}

function addSigner(text: string, signers: string[]): string[] {
  if (!isAddress(text)) throw new Exit(exitCodes.usage, `"${text}" is no address`)
  return [...signers, text]
}

type Options = {
  signer: string[]
  issuer?: string
  proof?: string
  anchors?: string
  json?: boolean
}

/** @throws Exit 2 for what cannot be read as a receipt at all. */
function readReceipt(path: string): unknown {
  const value = readJsonFile(path)
  if (isReceiptFile(value)) return value
  throw new Exit(exitCodes.usage, `${path} is no receipt file`)
}

/** What lies beside the receipt; the verifier reads it strictly. */
function readEvidence({ proof, anchors }: Options): LogEvidence {
  const evidence: LogEvidence = proof === undefined ? {} : { proof: readJsonFile(proof) }
  if (anchors === undefined) return evidence
  const answer = readJsonFile(anchors)
  if (!isObject(answer) || !isObject(answer['log']) || !isObject(answer['log']['checkpoint'])) {
    throw new Exit(exitCodes.usage, `${anchors} is no answer of GET /v1/anchors`)
  }
  const { checkpoint } = answer['log']
  return { ...evidence, checkpoint, consistency: answer['consistency'] }
}

/** @throws Exit 2 */
function readJsonFile(path: string): unknown {
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
  try {
    return JSON.parse(text)
  } catch {
    return unreadable('is not JSON')
  }
}

function exitCodeOf(verdict: Verdict, hasSigners: boolean): number {
  if (verdict.checks.some(({ status }) => status === 'fail')) return exitCodes.failed
  if (!hasSigners) return exitCodes.unavailable
  return verdict.valid ? 0 : exitCodes.failed
}

const loggedAt = ({ level }: Verdict): string => (level === 'logged' ? ', in the log' : '')

const marks = { pass: '✓', fail: '✗', skip: '-', unavailable: '?' } as const

function show(verdict: Verdict, hasSigners: boolean): void {
  for (const { name, status, reason } of verdict.checks) {
    print(`${marks[status]} ${name.padEnd(22)} ${reason}`)
  }
  const isWrong = verdict.checks.some(({ status }) => status === 'fail')
  if (isWrong) print('Not valid')
  else if (hasSigners && verdict.valid)
    print(`valid: signed by ${verdict.signer}${loggedAt(verdict)}`)
  else {
    say('Nobody was named as trusted, so this says only what holds. Name whom you trust with')
    say(`--signer; this one was signed by ${verdict.signer}.`)
  }
}
