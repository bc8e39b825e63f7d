/** The page of one's own passport, and the question before it is retired. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { KeyRow, PassportRow } from '../../../storage/db/schema/schema.ts'
import type { Draft } from '../../../web/http/fields.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { ConfirmPage } from '../../../web/ui/confirm.tsx'
import { ActionForm, errorOf, SelectField } from '../../../web/ui/form.tsx'
import { ErrorNote, Notice } from '../../../web/ui/notice.tsx'
import { Pad, PageHead, Panel, Split } from '../../../web/ui/panel.tsx'
import { type Column, Table } from '../../../web/ui/table.tsx'
import { RecordFigures, RecordPanel, StatementPanel } from '../pages/record.tsx'
import { passportPath } from '../passport-view.ts'
import type { TrackRecord } from '../record.ts'
import type { StatementFile } from '../statement.ts'
import { EditPanel } from './passport-form.tsx'
import {
  ownPassportPath,
  ownPassportsPath,
  PassportTitle,
  passportAction,
  StatusBadge,
} from './passport-state.tsx'
import { toDraft } from './read-body.ts'

/** All that the page of one's own passport shows. */
export type OwnView = {
  row: PassportRow
  record: TrackRecord
  now: Millis
  /** The keys that name it, and those that could: usable ones of the account. */
  bound: readonly KeyRow[]
  free: readonly KeyRow[]
  statement: StatementFile | undefined
  issuedAt: Millis | undefined
  /** The edit form as it was sent, and why that or another action was refused. */
  draft?: Draft | undefined
  refusal?: Refusal | undefined
}

/** The page of one's own passport; htmx puts it as a whole in its own place. */
export function OwnPassportPage({ view }: { view: OwnView }) {
  const { row, record, refusal, draft, statement, issuedAt } = view
  const isRetired = row.status === 'retired'
  return (
    <div class="stack wide" id="passport">
      <nav class="path" aria-label="Above this passport">
        <a href={ownPassportsPath}>Passports</a>
      </nav>
      <PageHead title={<PassportTitle of={row} />}>
        <div class="row">
          <code>@{row.handle}</code>
          <StatusBadge status={row.status} />
          {isRetired ? null : <Actions row={row} />}
        </div>
      </PageHead>
      {refusal && !draft ? (
        <ErrorNote what="Nothing was changed." charged={refusal.message} />
      ) : null}
      <Standing row={row} />
      <RecordFigures record={record} />
      <Split>
        <div class="stack wide">
          {isRetired ? null : <KeysPanel view={view} />}
          {isRetired ? null : (
            <EditPanel
              view={{ draft: draft ?? toDraft(row), refusal: draft ? refusal : undefined }}
              action={passportAction(row.handle)}
            />
          )}
          {isRetired ? <RecordPanel record={record} /> : null}
        </div>
        <div class="stack wide">
          {isRetired ? null : <RecordPanel record={record} />}
          <StatementPanel
            handle={row.handle}
            statement={statement}
            issuedAt={issuedAt}
            action={isRetired ? null : <Sign row={row} />}
          />
        </div>
      </Split>
    </div>
  )
}

/** Tells who sees the passport and what its owner can do next. */
function Standing({ row: { status, handle } }: { row: PassportRow }) {
  if (status === 'public') {
    return (
      <Notice
        tone="ok"
        title={`@${handle} is public.`}
        action={
          <ButtonLink href={passportPath(handle)} small>
            Open its page
          </ButtonLink>
        }
      >
        Its record follows the log within seconds.
      </Notice>
    )
  }
  if (status === 'retired') {
    return (
      <Notice tone="warn" title={`@${handle} is retired.`}>
        Its page says so permanently, and the handle is never reused.
      </Notice>
    )
  }
  const words = status === 'draft' ? 'Only you see it.' : 'Its page is hidden.'
  return (
    <Notice tone="warn" title={words}>
      @{handle} still counts receipts. Publish it when it is ready.
    </Notice>
  )
}

function Actions({ row: { handle, status } }: { row: PassportRow }) {
  const verb = status === 'public' ? 'hide' : 'publish'
  return (
    <>
      <ActionForm action={passportAction(handle, verb)} target="#passport">
        {verb === 'hide' ? <Button>Hide</Button> : <Button look="go">Publish</Button>}
      </ActionForm>
      <ButtonLink href={`${ownPassportPath(handle)}/retire`} look="bad">
        Retire…
      </ButtonLink>
    </>
  )
}

const Sign = ({ row: { handle } }: { row: PassportRow }) => (
  <ActionForm action={passportAction(handle, 'statement')} target="#passport">
    <Button small>Sign the record now</Button>
  </ActionForm>
)

function KeysPanel({ view: { row, bound, free, refusal } }: { view: OwnView }) {
  return (
    <Panel id="keys" title="Its keys">
      {bound.length === 0 ? (
        <Pad>
          <p class="quiet">No key is bound, so no runs are counted.</p>
        </Pad>
      ) : (
        <Table caption="Keys of this passport" columns={keyColumns(row)} rows={bound} />
      )}
      {free.length === 0 ? (
        <Pad>
          <p class="row">
            No other key can be bound.
            <ButtonLink href="/dashboard/keys/new" small icon="plus">
              Create a key
            </ButtonLink>
          </p>
        </Pad>
      ) : (
        <ActionForm action={passportAction(row.handle, 'bind')} target="#passport" look="stack">
          <SelectField
            form="bind"
            name="key_id"
            label="Bind a key"
            hint="Its receipts count from now on. Earlier ones stay where they were counted."
            error={errorOf(refusal, 'key_id')}
            options={free.map(({ id, name, passport, fingerprint: mark }) => ({
              value: id,
              label:
                passport === '' ? `${name} (${mark})` : `${name} (${mark}), now of @${passport}`,
            }))}
          />
          <div class="row">
            <Button>Bind the key</Button>
          </div>
        </ActionForm>
      )}
    </Panel>
  )
}

const keyColumns = ({ handle }: PassportRow): Column<KeyRow>[] => [
  {
    head: 'Key',
    cell: (key) => (
      <span class="name" dir="auto">
        <a href={`/dashboard/keys/${key.id}`}>{key.name}</a>
      </span>
    ),
  },
  {
    head: 'Fingerprint',
    kind: 'optional',
    at: 'who',
    cell: (key) => <code>{key.fingerprint}</code>,
  },
  {
    head: 'Action',
    kind: 'unnamed',
    cell: (key) => (
      <ActionForm action={passportAction(handle, 'unbind')} target="#passport">
        <input type="hidden" name="key_id" value={key.id} />
        <Button small>
          Unbind<span class="vh"> {key.name}</span>
        </Button>
      </ActionForm>
    ),
  },
]

type RetireProps = { row: PassportRow; bound: readonly KeyRow[] }

/** Asks before a passport is retired, with all that ends with it. */
export const RetirePage = ({ row, bound }: RetireProps) => (
  <ConfirmPage
    head="Retire a passport"
    id="retire"
    title={`Retire @${row.handle}?`}
    consequence={
      <>
        This ends <strong>@{row.handle} for ever</strong>: {keyWords(bound.length)} Its page says
        that it is gone, and the handle is never assigned again, not even to you.
      </>
    }
    {...(bound.length === 0
      ? {}
      : { affected: bound.slice(0, 20).map(({ name }) => `${name}, keeps working without it`) })}
    action={passportAction(row.handle, 'retire')}
    button={`Retire @${row.handle}`}
    keep="Keep it"
    keepHref={ownPassportPath(row.handle)}
  />
)

function keyWords(count: number): string {
  if (count === 0) return 'no key is bound.'
  return count === 1 ? '1 key is unbound.' : `${count} keys are unbound.`
}
