import { isReceiptFile, type Problem } from './receipt.ts'
import type { VerifyInput, VerifyOptions } from './verify.ts'

/** What somebody asks to have verified: a file, or the id of a receipt the server has. */
export type VerifyRequest = { chain: VerifyOptions['chain'] } & (VerifyInput | { id: string })

export type ReadVerifyRequest =
  | { ok: true; request: VerifyRequest }
  | { ok: false; problems: Problem[] }

/**
 * Reads the body of a verification: a receipt file, `{receipt: <file>, proof?, disclosures?,
 * checkpoint?, consistency?, options?}`, or `{id, options?}`. What is not even meant as a receipt
 * is a problem, for a 422; a receipt that is wrong inside is read and judged.
 */
export function readVerifyRequest(body: unknown): ReadVerifyRequest {
  if (isReceiptFile(body)) return { ok: true, request: { file: body, chain: 'auto' } }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return no('', 'not an object')
  }
  const { id, receipt, options, ...beside } = body as Record<string, unknown>
  const chain = readChain(options)
  if (!chain) return no('options.chain', 'not auto, skip or require')
  if (typeof id === 'string' && receipt === undefined) return { ok: true, request: { id, chain } }
  if (!isReceiptFile(receipt)) return no('receipt', 'not a receipt file')
  const { proof, disclosures, checkpoint, consistency } = beside
  const evidence = { proof, checkpoint, consistency }
  return { ok: true, request: { file: receipt, disclosures, ...evidence, chain } }
}

function readChain(options: unknown): VerifyOptions['chain'] | undefined {
  if (options === undefined || options === null) return 'auto'
  if (typeof options !== 'object') return undefined
  const { chain } = options as Record<string, unknown>
  if (chain === undefined) return 'auto'
  return chain === 'auto' || chain === 'skip' || chain === 'require' ? chain : undefined
}

const no = (path: string, message: string): ReadVerifyRequest => ({
  ok: false,
  problems: [{ path, message }],
})
