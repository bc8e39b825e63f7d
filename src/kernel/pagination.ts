/** Pages of lists. */

/** A keyset page: newest first, `has_more` tells whether `after` the last id finds another. */
export type Page<T> = { items: T[]; hasMore: boolean }

export type PageRequest = { limit: number; after: string | undefined }

export const defaultPageLimit = 20
/** Rows of a list in a browser. */
export const pageRows = 30
export const firstPage: PageRequest = { limit: pageRows, after: undefined }
export const maxPageLimit = 100

/**
 * The most rows that a list by cost looks at. An index by cost would be written with every run;
 * this many rows are read in about 20 ms.
 */
export const sortedMax = 10_000

/** The list envelope of every `/v1` list. */
export function toListView<T extends { id: string }>(page: Page<T>) {
  return {
    object: 'list' as const,
    data: page.items,
    has_more: page.hasMore,
    first_id: page.items.at(0)?.id ?? null,
    last_id: page.items.at(-1)?.id ?? null,
  }
}

/** {@link toListView} of a list with a filter: a page may end before its last match does. */
export function toFilteredView<T extends { id: string }>(items: T[], next: string | undefined) {
  const list = toListView({ items, hasMore: next !== undefined })
  return { ...list, last_id: next ?? list.last_id }
}

/** Cuts a result that was asked for with `limit + 1` rows down to a page. */
export function toPage<T>(rows: T[], limit: number): Page<T> {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit }
}
