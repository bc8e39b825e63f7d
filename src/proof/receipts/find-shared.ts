/** Finds a receipt with what its owner shows of it. */
import type { Deps } from '../../app/deps-port.ts'
import { isId } from '../../kernel/ids.ts'

/** A receipt and its share; `share` is undefined for a private one, both for an unknown one. */
export async function findShared(
  { receipts, shares }: Pick<Deps, 'receipts' | 'shares'>,
  id: string,
) {
  if (!isId('rcpt', id)) return { stored: undefined, share: undefined }
  const stored = await receipts.find(id)
  return { stored, share: stored && (await shares.find(id)) }
}
