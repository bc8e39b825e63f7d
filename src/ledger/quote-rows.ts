/** Quotes as commands see them in their batch. */
import type { QuoteRow } from '../storage/db/schema.ts'

/** Loaded rows by digest, and the changes that the store writes. */
export type QuoteRows = {
  byDigest: Map<string, QuoteRow>
  added: QuoteRow[]
  written: Set<QuoteRow>
}
