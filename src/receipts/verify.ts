import type { Deps } from '../deps.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { isId } from '../kernel/ids.ts'
import { refuse } from '../kernel/refusal.ts'
import { toHex } from '../verify/hex.ts'
import { readVerifyRequest } from '../verify/input.ts'
import { type Trust, type Verdict, verifyReceipt } from '../verify/verify.ts'
import type { Ended } from './receipt.ts'

type Needs = Pick<Deps, 'receipts' | 'signer' | 'clock' | 'settings'>

/** Most bytes of a request to verify: a receipt with its texts. */
export const verifyBodyBytes = 1024 * 1024

/**
 * Judges a receipt against this server's signer and store.
 * @throws Refusal `unprocessable` for what is no receipt, `receipt_not_found` for an unknown or
 * private id.
 */
export async function checkReceipt(
  deps: Needs,
  body: unknown,
): Promise<Verdict & { source: 'given' }> {
  const read = readVerifyRequest(body)
  if (!read.ok) {
    refuse('unprocessable', {
      message: 'This is no receipt file. Send the file itself, {"receipt": <file>} or {"id"}.',
      metadata: { problems: read.problems },
    })
  }
  const { request } = read
  const verifiedAt = toRfc3339(deps.clock.now())
  const options = { chain: request.chain, verifiedAt }
  if ('id' in request) {
    // Every receipt is private until sharing exists, and a private one is as none.
    refuse('receipt_not_found')
  }
  const known = await findNamed(deps, request.file)
  return { ...verifyReceipt(request, trustOf(deps, known, request.file), options), source: 'given' }
}

/** The receipt in our store that a file says it is. */
function findNamed(deps: Needs, file: unknown): Promise<Ended | undefined> {
  const id = (file as { receipt?: { id?: unknown } }).receipt?.id
  if (typeof id !== 'string' || !isId('rcpt', id)) return Promise.resolve(undefined)
  return deps.receipts.find(id)
}

/** We trust our own signer, under our own name, and know what we issued. */
function trustOf({ signer, settings }: Needs, stored: Ended | undefined, file: unknown): Trust {
  const base = { signers: [{ address: signer.address }], issuers: [settings.issuer] }
  if (!stored) {
    return { ...base, known: { status: 'fail', reason: 'This server issued no such receipt.' } }
  }
  const index = stored.logIndex === null ? {} : { index: BigInt(stored.logIndex) }
  const claimed = (file as { digest?: unknown }).digest
  if (claimed !== toHex(stored.digest)) {
    const reason = 'This server issued a receipt with this id, but with another digest.'
    return { ...base, known: { status: 'fail', reason, ...index } }
  }
  return { ...base, known: { status: 'pass', reason: 'This server issued it.', ...index } }
}
