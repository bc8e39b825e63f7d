/** The addresses of the explorer with what is chosen on it. */
import { pathWith } from '../../../web/http/query.ts'
import type { Window } from '../stats.ts'

export const explorerPath = '/explorer'

/** The window of the figures, and whether the list leaves private receipts out. */
export type Place = { window: Window; isPublicOnly: boolean }

/** `after`: the log place that a page of the log goes on from, of public receipts the id. */
export const hrefOf = (place: Place, after?: number | string): string =>
  pathWith(explorerPath, { ...valuesOf(place), after: after?.toString() })

/** The stream that an open page follows, from the log place that it has seen. */
export const streamOf = (place: Place, after: number): string =>
  pathWith(`${explorerPath}/stream`, { ...valuesOf(place), after: String(after) })

const valuesOf = ({ window, isPublicOnly }: Place) => ({
  window: window === '24h' ? undefined : window,
  public: isPublicOnly ? '1' : undefined,
})
