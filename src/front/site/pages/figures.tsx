/** The landing page's figures. */
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Figures } from '../../../web/ui/panel.tsx'
import type { Stats } from '../../explorer/stats.ts'

export const LiveFigures = ({ stats, isAnchored }: FiguresProps) => (
  <Figures label="So far" of={figuresOf(stats, isAnchored)} />
)

type FiguresProps = {
  stats: Stats
  /** Whether a chain is configured for anchors. */
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
    figures.push([<Share bps={bps} />, 'of runs succeeded'])
  }
  if (medianFirstTokenMs !== undefined) {
    const words = `${medianFirstTokenMs.toLocaleString('en-US')} ms`
    figures.push([
      <data value={String(medianFirstTokenMs)}>{words}</data>,
      'median time to first token',
    ])
  }
  return figures
}

const Count = ({ value }: { value: number }) => (
  <data value={String(value)}>{value.toLocaleString('en-US')}</data>
)

/** A percentage, with two decimals unless whole. */
const Share = ({ bps }: { bps: number }) => (
  <data value={String(bps / 10_000)}>{(bps / 100).toFixed(bps % 100 === 0 ? 0 : 2)}%</data>
)
