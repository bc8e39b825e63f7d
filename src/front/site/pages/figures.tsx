import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Figures } from '../../../web/ui/panel.tsx'
import type { Stats } from '../../explorer/stats.ts'

/** How much was run here and how far it can be checked, in the explorer's own figures. */
export const LiveFigures = ({ stats, isAnchored }: FiguresProps) => (
  <Figures label="So far" of={figuresOf(stats, isAnchored)} />
)

type FiguresProps = {
  stats: Stats
  /** Whether this service has a chain to anchor on. */
  isAnchored: boolean
}

function figuresOf(stats: Stats, isAnchored: boolean) {
  const { receipts, anchoredShareBps, runs, succeeded, medianFirstTokenMs } = stats
  const figures: (readonly [Child, Child])[] = [
    [<Count value={receipts} />, receipts === 1 ? 'receipt in the log' : 'receipts in the log'],
  ]
  if (isAnchored && anchoredShareBps !== undefined) {
    figures.push([<Share bps={anchoredShareBps} />, 'anchored on chain 4663'])
  }
  if (runs > 0) {
    const bps = Math.floor((succeeded * 10_000) / runs)
    figures.push([<Share bps={bps} />, 'of the runs succeeded'])
  }
  if (medianFirstTokenMs !== undefined) {
    const words = `${medianFirstTokenMs.toLocaleString('en-US')} ms`
    figures.push([<data value={String(medianFirstTokenMs)}>{words}</data>, 'to the first token'])
  }
  return figures
}

const Count = ({ value }: { value: number }) => (
  <data value={String(value)}>{value.toLocaleString('en-US')}</data>
)

/** Two decimals, but for what is whole. */
const Share = ({ bps }: { bps: number }) => (
  <data value={String(bps / 10_000)}>{(bps / 100).toFixed(bps % 100 === 0 ? 0 : 2)}%</data>
)
