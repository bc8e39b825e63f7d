/** The interface of the receipt store, with visibilities and filters of lists. */
import type { KeyScope } from '../../kernel/acting.ts'
import type { Page, PageRequest } from '../../kernel/pagination.ts'
import type { EndedRun, ShareRow } from '../../storage/db/schema/schema.ts'
import type { Ended } from './receipt.ts'

/** The readers of a receipt: its owner; anyone with the link; everyone, in public lists. */
export type Visibility = 'private' | ShareRow['visibility']
export const visibilities = ['private', 'unlisted', 'public'] as const satisfies Visibility[]

/** Narrows the list of an account's receipts. */
export type ReceiptFilter = {
  visibility?: Visibility | undefined
  model?: string | undefined
  /** Ids of runs: the least to list, and the last. */
  since: string
  upTo?: string | undefined
  /** The last characters of the ids. */
  end?: string | undefined
}

export type ListedReceipts = {
  items: Ended[]
  /** The cursor of the next page; undefined at the end. */
  next: string | undefined
}

/** The most receipts that one query may skip; the next page continues behind them. */
export const passedMax = 4000

/** Receipts are the ended runs. */
export type ReceiptStore = {
  find(id: string): Promise<Ended | undefined>
  /** The receipts of these keys, newest first, back to the run `since`. */
  list(keyIds: string[], page: PageRequest, since: string): Promise<Page<Ended>>
  /**
   * The receipts of an account or of a branch, newest first. With a filter a page may be short and
   * have a `next`.
   */
  listShown(whose: KeyScope, filter: ReceiptFilter, page: PageRequest): Promise<ListedReceipts>
  /** The `limit` costliest that match among the `sortedMax` newest, the costliest first. */
  listCostliest(whose: KeyScope, filter: ReceiptFilter, limit: number): Promise<ListedReceipts>
  /** Digests and signatures of numbered receipts, from a place in the log on. */
  numberedFrom(
    place: number,
    limit: number,
  ): Promise<({ place: number } & Pick<EndedRun, 'digest' | 'signature'>)[]>
  /** Stores signatures of receipts by their places; keeps those that are there. */
  sign(signed: { place: number; signature: Uint8Array }[]): Promise<void>
  /** A place below which every receipt is signed, as last noted. */
  signedUpTo(): Promise<number>
  noteSignedUpTo(place: number): Promise<void>
}
