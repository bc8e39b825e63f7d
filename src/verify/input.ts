/** Reads the body of a verification request. */

import { quoteCheck } from './quote.ts'
import { isObject, isReceiptFile, type Problem, refuseOthers } from './receipt.ts'
import { evidenceCheck } from './upstream-evidence.ts'
import type { VerifyInput, VerifyOptions } from './verify.ts'

/** A request to verify a file, or a receipt of this server by its id. */
export type VerifyRequest = { chain: VerifyOptions['chain'] } & (VerifyInput | { id: string })

export type ReadVerifyRequest =
  | { ok: true; request: VerifyRequest }
  | { ok: false; problems: Problem[] }

/**
 * Reads the body of a verification: a receipt file, `{receipt: <file>, proof?, disclosures?,
 * quote?, evidence?, checkpoint?, consistency?, options?}`, or `{id, options?}`. A body without a
 * receipt is a problem (422); a receipt with faults inside is read and judged, as is one with
 * unknown or `repeated` members beside it.
 */
export function readVerifyRequest(
  body: unknown,
  repeated: readonly Problem[] = [],
): ReadVerifyRequest {
  const problems = [...repeated]
  if (isReceiptFile(body)) return { ok: true, request: { file: body, problems, chain: 'auto' } }
  if (!isObject(body)) return no([{ path: '', message: 'not an object' }])
  const { id, receipt, options, proof, disclosures, quote, checkpoint, consistency } = body
  const { evidence: attested } = body
  const chain = readChain(options, problems)
  if (!chain) return no([{ path: 'options.chain', message: 'not auto, skip or require' }])
  const isStored = typeof id === 'string' && receipt === undefined
  refuseOthers(body, isStored ? storedMembers : givenMembers, '', problems)
  if (isStored) return problems.length > 0 ? no(problems) : { ok: true, request: { id, chain } }
  if (!isReceiptFile(receipt)) return no([{ path: 'receipt', message: 'not a receipt file' }])
  const evidence = {
    proof,
    checkpoint,
    consistency,
    ...(isGiven(quote) && { quote: quoteCheck(quote) }),
    ...(isGiven(attested) && { attested: evidenceCheck(attested) }),
  }
  return { ok: true, request: { file: receipt, disclosures, ...evidence, problems, chain } }
}

const storedMembers = new Set(['id', 'options'])
const givenMembers = new Set([
  'receipt',
  'proof',
  'disclosures',
  'quote',
  'evidence',
  'checkpoint',
  'consistency',
  'options',
])
const optionMembers = new Set(['chain'])

function readChain(options: unknown, problems: Problem[]): VerifyOptions['chain'] | undefined {
  if (options === undefined || options === null) return 'auto'
  if (!isObject(options)) return undefined
  refuseOthers(options, optionMembers, 'options', problems)
  const { chain } = options
  if (chain === undefined) return 'auto'
  return chain === 'auto' || chain === 'skip' || chain === 'require' ? chain : undefined
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const no = (problems: Problem[]): ReadVerifyRequest => ({ ok: false, problems })
