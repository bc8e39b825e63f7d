/** The rules of quotes: a run takes a use, and gives it back if it ends without a charge. */
import { refuse } from '../../kernel/refusal.ts'
import type { UnitOfWork } from '../../ledger/unit-of-work.ts'
import type { QuoteRow } from '../../storage/db/schema/schema.ts'
import { quoteRows } from './quote-rows.ts'

export const quoteHeader = 'X-Counterfoil-Quote'

/** The quote of a run that may begin with it; changes nothing. @throws Refusal `gone` */
export function usableQuote(unit: UnitOfWork, digest: string): QuoteRow {
  const row = unit.part(quoteRows).byDigest.get(digest)
  if (!row || row.expiresAt <= unit.now) return refuseExpired()
  if (row.used >= row.uses) refuseUsed(row)
  return row
}

/** Takes a use of a {@link usableQuote} for a run that begins. */
export function takeUse(unit: UnitOfWork, row: QuoteRow): void {
  row.used += 1
  unit.part(quoteRows).written.add(row)
}

/** Gives a use back; a quote that was deleted meanwhile needs none. */
export function returnUse(unit: UnitOfWork, digest: string): void {
  const { byDigest, written } = unit.part(quoteRows)
  const row = byDigest.get(digest)
  if (!row) return
  row.used -= 1
  written.add(row)
}

export const refuseExpired = (): never =>
  refuse('gone', {
    param: quoteHeader,
    message: 'This quote has expired. Ask for another one at POST /v1/quotes.',
  })

function refuseUsed({ uses }: QuoteRow): never {
  const times = uses === 1 ? 'once' : `${uses} times`
  const message = `This quote can be used ${times}, and was. Ask for another at POST /v1/quotes.`
  return refuse('gone', { param: quoteHeader, message })
}
