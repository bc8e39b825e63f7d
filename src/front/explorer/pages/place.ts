/** The addresses of the explorer with what is chosen on it. */
import type { Window } from '../stats.ts'

export const explorerPath = '/explorer'

/** The window of the figures, and whether the list leaves private receipts out. */
export type Place = { window: Window; isPublicOnly: boolean }

/** `after`: the log place that a page of the log goes on from, of public receipts the id. */
export function hrefOf(place: Place, after?: number | string): string {
  const query = queryOf(place)
  if (after !== undefined) query.set('after', String(after))
  return query.size === 0 ? explorerPath : `${explorerPath}?${query}`
}

/** The stream that an open page follows, from the log place that it has seen. */
export function streamOf(place: Place, after: number): string {
  const query = queryOf(place)
  query.set('after', String(after))
  return `${explorerPath}/stream?${query}`
}

function queryOf({ window, isPublicOnly }: Place): URLSearchParams {
  const query = new URLSearchParams()
  if (window !== '24h') query.set('window', window)
  if (isPublicOnly) query.set('public', '1')
  return query
}
