/** The panels of a track record and of its signed statement. */
import { Address } from '../../../web/ui/address.tsx'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { Hash } from '../../../web/ui/hash.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Facts, Figures, Pad, Panel } from '../../../web/ui/panel.tsx'
import { ExactTime } from '../../../web/ui/when.tsx'
import { statementPath } from '../passport-view.ts'
import { bandWords, countText, dayText, rateText } from '../portal/passport-state.tsx'
import type { TrackRecord } from '../record.ts'
import type { StatementFile } from '../statement.ts'

/** The track record of a passport, in large. */
export const RecordFigures = ({ record }: { record: TrackRecord }) => (
  <Figures
    label="In short"
    of={[
      [countText(record.runs), record.runs === 1 ? 'run with a receipt' : 'runs with a receipt'],
      [rateText(record), 'succeeded'],
      [countText(record.active_days), record.active_days === 1 ? 'active day' : 'active days'],
      [countText(record.public_receipts), 'public receipts'],
    ]}
  />
)

/** The rest of it, and what it does not say. */
export const RecordPanel = ({ record, note }: { record: TrackRecord; note?: Child }) => (
  <Panel
    id="record"
    title="Track record"
    aside={<small class="quiet">As of {countText(record.as_of_size)} leaves of the log</small>}
  >
    <Pad>
      <Facts
        of={[
          ['Succeeded', `${countText(record.succeeded)} of ${countText(record.runs)}`],
          ['First active', dayText(record.first_at)],
          ['Last active', dayText(record.last_at)],
          ['Total spent', bandWords[record.spend_band]],
          ['Models', <Models of={record.models} />],
        ]}
      />
      {note}
    </Pad>
  </Panel>
)

const Models = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? (
    <>none yet</>
  ) : (
    <ul class="bare">
      {of.map((model) => (
        <li>
          <code>{model}</code>
        </li>
      ))}
    </ul>
  )

type StatementProps = {
  handle: string
  statement: StatementFile | undefined
  issuedAt: number | undefined
  /** The owner's button to sign a statement. */
  action?: Child
}

/** The newest record that was signed and logged, and how to check it. */
export function StatementPanel({ handle, statement, issuedAt, action }: StatementProps) {
  if (!statement) {
    return (
      <Panel id="statement" title="Signed statement">
        <Pad>
          <p class="quiet">No record has been signed yet.</p>
          {action}
        </Pad>
      </Panel>
    )
  }
  return (
    <Panel id="statement" title="Signed statement">
      <Pad>
        <p>
          {countText(statement.record.runs)} runs, {rateText(statement.record)} succeeded: signed,
          and itself a leaf of the log.
        </p>
        <Facts
          of={[
            ['Leaf', `Number ${countText(Number(statement.log_index))} of the log`],
            ['Counts', `the ${countText(Number(statement.as_of_size))} leaves before it`],
            ['Signed', issuedAt === undefined ? 'none' : <ExactTime at={issuedAt} />],
            ['Signer', <Address value={statement.signer} />],
            ['Digest', <Hash value={statement.digest} />],
          ]}
        />
        <div class="row">
          <ButtonLink href={statementPath(handle)} icon="download" small>
            Statement with its proof
          </ButtonLink>
          {action}
        </div>
      </Pad>
    </Panel>
  )
}
