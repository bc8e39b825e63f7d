/** The column beside a run: its slip, and the texts that are kept of it. */
import { toHex } from '../../kernel/hex.ts'
import { inputUnitsOf, outputUnitsOf } from '../../models/meter.ts'
import { isEnded, receiptIdOf } from '../../proof/receipts/receipt.ts'
import type { Texts } from '../../storage/texts/store.ts'
import { ButtonLink } from '../../web/ui/button.tsx'
import { Code } from '../../web/ui/copy-box.tsx'
import { Pad, Panel } from '../../web/ui/panel.tsx'
import { Slip } from '../../web/ui/slip.tsx'
import type { ShownRun } from '../shown-run.ts'
import { receiptPath } from './run-state.tsx'

type Run = ShownRun['run']

/** The receipt in short, as a way to the whole one; a run in flight has none. */
export function SmallSlip({ run }: { run: Run }) {
  if (!isEnded(run)) return null
  return (
    <div class="smallslip stack">
      <Slip
        id={receiptIdOf(run.id)}
        heading="h2"
        at={run.finishedAt}
        digest={toHex(run.digest)}
        lines={[
          ['Model', run.model],
          ['Outcome', run.outcome],
          ['Input', inputUnitsOf(run.lines).toLocaleString('en-US')],
          ['Output', outputUnitsOf(run.lines).toLocaleString('en-US')],
        ]}
        total={run.cost}
      />
      <div class="row">
        <ButtonLink small href={receiptPath(run.id)}>
          Open receipt
        </ButtonLink>
      </div>
    </div>
  )
}

/** The most characters of a text that the page shows; the receipt's file has all of it. */
const shownMax = 20_000

/** The request and the answer, where the account keeps its texts. */
export const TextsPanel = ({ texts }: { texts: Texts | undefined }) => (
  <Panel id="texts" title="Texts">
    <Pad>
      {texts === undefined ? (
        <p class="quiet">
          The texts of this run are not stored. Change that for later runs in{' '}
          <a href="/dashboard/settings">Settings</a>.
        </p>
      ) : (
        <>
          <Text name="Input" value={texts.input} />
          {texts.output === null ? null : <Text name="Output" value={texts.output} />}
        </>
      )}
    </Pad>
  </Panel>
)

const Text = ({ name, value }: { name: string; value: Texts['input'] }) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const isCut = text.length > shownMax
  return (
    <div class="stack text">
      <h3>{name}</h3>
      <Code
        id={`text-${name.toLowerCase()}`}
        label={name}
        text={isCut ? `${text.slice(0, shownMax)}…` : text}
        wrap
      />
    </div>
  )
}
