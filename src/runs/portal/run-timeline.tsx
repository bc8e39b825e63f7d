/** A run from its request to its receipt: what took how long, and what was held and charged. */
import { Amount, amountText, shortAmountText } from '../../web/ui/amount.tsx'
import { Pad, Panel } from '../../web/ui/panel.tsx'
import { durationText, ExactTime } from '../../web/ui/when.tsx'
import { isInFlight, type ShownRun } from '../shown-run.ts'

type Run = ShownRun['run']

/** A stretch of a run; `ms` is undefined while it lasts. */
type Phase = { look: string; name: string; ms: number | undefined }

/** The stretches that a run has come to, in their order. */
export function phasesOf(run: Run): Phase[] {
  const { createdAt, startedAt, firstByteAt, finishedAt } = run
  const spans: [look: string, name: string, from: number | null, to: number | null][] = [
    ['queued', 'Queued', createdAt, startedAt ?? finishedAt],
    ['first', 'Waiting for the first byte', startedAt, firstByteAt ?? finishedAt],
    ['streaming', 'Streaming', firstByteAt, finishedAt],
  ]
  return spans.flatMap(([look, name, from, to]) =>
    from === null ? [] : [{ look, name, ms: to === null ? undefined : Math.max(0, to - from) }],
  )
}

/** Every stretch as long as it took; the words beside it say the same. */
export const TimelinePanel = ({ run }: { run: Run }) => {
  const phases = phasesOf(run)
  return (
    <Panel
      id="timeline"
      title="Time line"
      aside={run.durationMs === null ? null : <data>{spanText(run.durationMs)}</data>}
    >
      <Pad>
        <Bar phases={phases} />
        <ol class="phases bare">
          {phases.map(({ look, name, ms }) => (
            <li class={look}>
              {name} <data>{ms === undefined ? 'now' : spanText(ms)}</data>
            </li>
          ))}
          <li class="settled">
            {run.finishedAt === null ? (
              'Not settled yet'
            ) : (
              <>
                Settled <ExactTime at={run.finishedAt} />
              </>
            )}
          </li>
        </ol>
      </Pad>
    </Panel>
  )
}

/** The width of the drawing, in units of its own. */
const width = 1000
/** A stretch is never thinner than this. */
const least = 6

function Bar({ phases }: { phases: readonly Phase[] }) {
  const sum = phases.reduce((all, { ms = 0 }) => all + ms, 0)
  const widths = phases.map(({ ms = 0 }) =>
    Math.max(least, sum === 0 ? width / phases.length : (ms / sum) * width),
  )
  const drawn = widths.reduce((all, one) => all + one, 0)
  let x = 0
  return (
    <svg
      class="phasebar"
      viewBox={`0 0 ${Math.ceil(drawn)} 10`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {phases.map(({ look }, i) => {
        const at = x
        x += widths[i] ?? 0
        return (
          <rect
            class={look}
            x={at.toFixed(1)}
            y="0"
            width={(widths[i] ?? 0).toFixed(1)}
            height="10"
          />
        )
      })}
    </svg>
  )
}

/** The hold, the part of it that was charged, and the part that came back. */
export const Held = ({ run }: { run: Run }) => {
  if (isInFlight(run)) {
    return (
      <p class="held">
        Held at most <Amount nusd={run.hold} />
      </p>
    )
  }
  const perMille = run.hold === 0n ? 0 : Number((run.cost * 1000n) / run.hold)
  const words = `${amountText(run.cost)} of ${amountText(run.hold)} held was charged`
  return (
    <div class="held">
      <progress max="1000" value={String(Math.min(1000, perMille))} aria-label={words}></progress>
      <small title={words}>
        {shortAmountText(run.hold)} held, {shortAmountText(run.cost)} charged,{' '}
        {shortAmountText(run.hold - run.cost)} released
      </small>
    </div>
  )
}

export const spanText = (ms: number): string =>
  ms < 10_000 ? `${Math.max(0, ms).toLocaleString('en-US')} ms` : durationText(ms)
