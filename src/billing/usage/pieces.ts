/** Splits the period of a question: counted sums tell most of it, receipts the rest. */
import { quarterMs, utcZone } from '../../kernel/zone.ts'
import { type Steps, type Stretch, stretchesOf } from './chart-steps.ts'
import { type Period, splitDays } from './log-range.ts'
import type { Piece } from './store/read-pieces.ts'
import { dayMs, dayOf } from './usage.ts'

/** The most time of one statement by quarters of an hour, in ms: it takes some milliseconds. */
const fineMost = 8 * dayMs

type PieceOptions = Period & { steps?: Steps | undefined }

/** The pieces of a period, and the edges of it that are not whole quarters of an hour. */
export function piecesOf(wish: PieceOptions, by: { day: boolean; provider: boolean }) {
  if (wish.steps) return { pieces: piecesOfSteps(wish.steps, by), edges: [] }
  const { whole, edges } = splitDays(wish)
  const pieces: Piece[] =
    whole.from < whole.to
      ? [{ ...whole, origin: whole.from, length: dayMs, fine: by.provider }]
      : []
  const rest: Period[] = []
  for (const edge of edges) {
    const from = Math.ceil(edge.from / quarterMs) * quarterMs
    const to = Math.floor(edge.to / quarterMs) * quarterMs
    if (from >= to) {
      rest.push(edge)
      continue
    }
    pieces.push({ from, to, origin: dayOf(edge.from), length: dayMs, fine: true })
    rest.push({ from: edge.from, to: from }, { from: to, to: edge.to })
  }
  return { pieces, edges: rest.filter(({ from, to }) => from < to) }
}

function piecesOfSteps(steps: Steps, by: { day: boolean; provider: boolean }): Piece[] {
  const stretches = stretchesOf(steps)
  const isCoarse = !by.provider && steps.zone === utcZone && stretches.every(hasWholeDays)
  if (isCoarse) return stretches.map((one) => ({ ...one, origin: one.from, fine: false }))
  return stretches.flatMap((one) => cut(one).map((piece) => ({ ...piece, fine: true })))
}

const hasWholeDays = ({ from, to, length }: Stretch): boolean =>
  [from, to, length].every((at) => at % dayMs === 0)

/** In pieces of whole steps. */
function cut({ from, to, length }: Stretch): Omit<Piece, 'fine'>[] {
  const most = Math.max(1, Math.floor(fineMost / length)) * length
  const pieces: Omit<Piece, 'fine'>[] = []
  for (let at = from; at < to; at += most) {
    pieces.push({ from: at, to: Math.min(at + most, to), origin: at, length })
  }
  return pieces
}
