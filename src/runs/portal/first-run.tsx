/** The first run of a new key, on the page that shows its secret. */
import type { Deps } from '../../app/deps-port.ts'
import type { Actor } from '../../kernel/acting.ts'
import { receiptIdOf } from '../../proof/receipts/receipt.ts'
import { IdLink } from '../../web/ui/hash.tsx'
import type { Markup } from '../../web/ui/jsx-runtime.ts'
import { Badge, Live } from '../../web/ui/status.tsx'
import { renderIn } from '../../web/ui/when.tsx'
import { statusWords } from '../api/list-query.ts'
import type { PartState } from '../api/live.ts'
import { isInFlight, type ShownRun } from '../shown-run.ts'
import { receiptPath, runPath } from './run-state.tsx'

/** The part of that page as it is now: nothing to show until the key has a run. */
export async function lookForFirst(deps: Deps, acting: Actor, keyId: string): Promise<PartState> {
  const { items } = await deps.runs.listShown(acting, { keyId }, { limit: 1, after: undefined })
  const shown = items[0]
  if (!shown) return { mark: 'none', html: () => '' }
  const html = () => renderIn(acting.zone, partOf(keyId, shown))
  return { mark: `${shown.run.id}-${shown.run.status}`, html }
}

function partOf(keyId: string, { run }: ShownRun): Markup {
  const mark = `${run.id}-${run.status}`
  if (!isInFlight(run)) {
    return (
      <p class="row" id="first-run" role="status">
        {run.status === 'succeeded' ? (
          <Badge tone="ok">Complete</Badge>
        ) : (
          <Badge tone="bad">{statusWords[run.status]}</Badge>
        )}
        {run.status === 'succeeded'
          ? 'The first run left its receipt: '
          : 'The first run is here: '}
        {run.status === 'succeeded' ? (
          <IdLink value={receiptIdOf(run.id)} href={receiptPath(run.id)} />
        ) : (
          <IdLink value={run.id} href={runPath(run.id)} />
        )}
      </p>
    )
  }
  return (
    <p
      class="row"
      id="first-run"
      role="status"
      hx-sse:connect={`/api/portal/keys/${keyId}/live?mark=${mark}`}
      hx-target="#first-run"
      hx-swap="outerHTML"
    >
      <Live>The first run is under way</Live>
      <a href={runPath(run.id)}>See it</a>
    </p>
  )
}
