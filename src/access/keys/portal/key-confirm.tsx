/** The confirmations before a key is revoked or rotated. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { KeyRow } from '../../../storage/db/schema.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Confirm } from '../../../web/ui/confirm.tsx'
import { ActionForm, ChoiceField } from '../../../web/ui/form.tsx'
import { ErrorNote } from '../../../web/ui/notice.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { Affected } from '../affected.ts'
import { actionPath, keyPath } from './key-state.tsx'

type RevokeProps = { keyRow: KeyRow; affected: Affected; below: readonly KeyRow[]; now: Millis }

export const RevokePage = (props: RevokeProps) => (
  <>
    <PageHead title="Revoke a key" />
    <RevokePanel {...props} />
  </>
)

/** Names all that stops with the key. */
export function RevokePanel({ keyRow: key, affected, below, now }: RevokeProps) {
  const count = 1 + affected.keysBelow
  const keys = count === 1 ? '1 key' : `${count} keys`
  const rest = affected.keysBelow - below.length
  return (
    <Confirm
      id="revoke"
      title={`Revoke ${key.name}?`}
      consequence={
        <>
          This stops <strong>{keys} at once</strong> and cannot be undone. {runWords(affected)}
        </>
      }
      affected={[
        ...[key, ...below].map((one) => <Used of={one} now={now} />),
        ...(rest > 0 ? [`and ${rest} more`] : []),
      ]}
      action={actionPath(key.id, 'revoke')}
      button={`Revoke ${keys}`}
      keep={count === 1 ? 'Keep it' : 'Keep them'}
      keepHref={keyPath(key.id)}
    />
  )
}

function runWords({ runsInFlight: count }: Affected): string {
  if (count === 0) return 'No run is in progress.'
  const runs = count === 1 ? '1 run in progress stops' : `${count} runs in progress stop`
  return `${runs} within 2 s. What they used so far is charged.`
}

const Used = ({ of: { name, lastUsedAt }, now }: { of: KeyRow; now: Millis }) => (
  <>
    {name}, {lastUsedAt === null ? 'never used' : 'used '}
    {lastUsedAt === null ? null : <When at={lastUsedAt} now={now} />}
  </>
)

const overlaps = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In 1 h' },
  { value: '86400', label: 'In 1 day' },
  { value: '604800', label: 'In 7 days' },
]

type RotateProps = { keyRow: KeyRow; overlap?: string | undefined; refusal?: Refusal | undefined }

export const RotatePage = (props: RotateProps) => (
  <>
    <PageHead title="Rotate a key" />
    <RotatePanel {...props} />
  </>
)

export const RotatePanel = ({ keyRow: key, overlap, refusal }: RotateProps) => (
  <Panel id="rotate" title={`Give ${key.name} a new secret`}>
    <ActionForm action={actionPath(key.id, 'rotate')} look="stack">
      {refusal ? <ErrorNote what="Nothing was changed." charged={refusal.message} /> : null}
      <p>
        The key keeps its cap, its limits and the keys below it. It gets a new secret, which you see
        once. If an earlier secret is still valid beside the current one, it stops working now.
      </p>
      <input type="hidden" name="fingerprint" value={key.fingerprint} />
      <ChoiceField
        name="overlap_seconds"
        label="The old secret stops working"
        value={overlap ?? '0'}
        options={overlaps}
      />
      <div class="row">
        <Button look="go">Rotate the secret</Button>
        <ButtonLink look="plain" href={keyPath(key.id)} keeps>
          Keep it
        </ButtonLink>
      </div>
    </ActionForm>
  </Panel>
)
