/** The confirmations before a key is paused, revoked or rotated. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import type { ConfirmProps } from '../../../web/ui/confirm.tsx'
import { ChoiceField } from '../../../web/ui/form.tsx'
import { When } from '../../../web/ui/when.tsx'
import type { RevocationImpact } from '../affected.ts'
import { actionPath, keyPath } from './key-state.tsx'

/** Reached by the command palette; the page of the key pauses at once, with an undo. */
export const confirmPause = (key: KeyRow, affected: RevocationImpact): ConfirmProps => ({
  id: 'pause',
  title: `Pause ${key.name}?`,
  consequence: (
    <>
      This key {affected.keysBelow === 0 ? 'takes' : 'and those below it take'} no new run until you
      resume it. Runs in progress end as usual.
    </>
  ),
  action: actionPath(key.id, 'pause'),
  button: `Pause ${key.name}`,
  look: 'go',
  hasFocus: true,
  keep: 'Keep it running',
  keepHref: keyPath(key.id),
})

type Revocation = {
  keyRow: KeyRow
  affected: RevocationImpact
  below: readonly KeyRow[]
  now: Millis
}

/** Names all that stops with the key. */
export function confirmRevoke({ keyRow: key, affected, below, now }: Revocation): ConfirmProps {
  const count = 1 + affected.keysBelow
  const keys = count === 1 ? '1 key' : `${count} keys`
  const rest = affected.keysBelow - below.length
  return {
    id: 'revoke',
    title: `Revoke ${key.name}?`,
    consequence: (
      <>
        This stops <strong>{keys} at once</strong> and cannot be undone. {runWords(affected)}
      </>
    ),
    affected: [
      ...[key, ...below].map((one) => <Used of={one} now={now} />),
      ...(rest > 0 ? [`and ${rest} more`] : []),
    ],
    action: actionPath(key.id, 'revoke'),
    button: `Revoke ${keys}`,
    keep: count === 1 ? 'Keep it' : 'Keep them',
    keepHref: keyPath(key.id),
  }
}

function runWords({ runsInFlight: count }: RevocationImpact): string {
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

/** How long an old secret goes on, in seconds. */
export const overlaps = [
  { value: '86400', label: 'In 1 day' },
  { value: '3600', label: 'In 1 h' },
  { value: '604800', label: 'In 7 days' },
  { value: '0', label: 'At once: it leaked' },
]

export const confirmRotate = (
  key: KeyRow,
  { overlap, refusal }: { overlap?: string | undefined; refusal?: Refusal } = {},
): ConfirmProps => ({
  id: 'rotate',
  title: `Give ${key.name} a new secret`,
  consequence:
    'The key keeps its cap, its limits and the keys below it. It gets a new secret, which you ' +
    'see once. If an earlier secret is still valid beside the current one, it stops working now.',
  action: actionPath(key.id, 'rotate'),
  fields: (
    <>
      <input type="hidden" name="fingerprint" value={key.fingerprint} />
      <ChoiceField
        name="overlap_seconds"
        label="The old secret stops working"
        value={overlap ?? '86400'}
        options={overlaps}
      />
    </>
  ),
  refusal,
  button: 'Rotate the secret',
  look: 'go',
  keep: 'Keep it',
  keepHref: keyPath(key.id),
})
