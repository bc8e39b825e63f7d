/** The panels of a key's properties and of its rights. */
import type { Json } from '../../../kernel/canonical.ts'
import { hasBrake } from '../../../ledger/brake.ts'
import type { KeyRow } from '../../../storage/db/schema/schema.ts'
import { Amount } from '../../../web/ui/amount.tsx'
import { Whole } from '../../../web/ui/hash.tsx'
import type { Child } from '../../../web/ui/jsx-runtime.ts'
import { Facts, Pad, Panel } from '../../../web/ui/panel.tsx'
import { ExactTime, When } from '../../../web/ui/when.tsx'
import { everyLimit } from '../key-limits.ts'
import { type DetailView, endOf, keyPath } from './key-state.tsx'

type Option = { label: string }

type Fact = readonly [name: Child, value: Child]

export const FactsPanel = ({ view }: { view: DetailView }) => (
  <Panel id="facts" title="This key">
    <Pad>
      <Facts of={[...origin(view), ...times(view)]} />
    </Pad>
  </Panel>
)

export const RightsPanel = ({ view }: { view: DetailView }) => (
  <Panel id="rights" title="What it may do">
    <Pad>
      <div class="grid2">
        <Facts of={rights(view)} />
        <Facts of={limits(view)} />
      </div>
    </Pad>
  </Panel>
)

function origin({ shown: { key, chain } }: DetailView): Fact[] {
  const parent = chain[1]
  return [
    [
      'Id',
      <code class="long">
        <Whole value={key.id} />
      </code>,
    ],
    ['Fingerprint', <code title="Of the secret’s SHA-256">{key.fingerprint}</code>],
    ['Parent', parent ? <a href={keyPath(parent.id)}>{parent.name}</a> : 'None'],
    ['Direct children', key.childrenCount.toLocaleString('en-US')],
  ]
}

function times({ shown: { key, chain, overlapUntil }, now }: DetailView): Fact[] {
  const end = endOf(chain)
  return [
    ['Created', <ExactTime at={key.createdAt} />],
    ['Expires', <ExactTime at={key.expiresAt} />],
    ...(end < key.expiresAt ? [['Chain expires', <ExactTime at={end} />] as const] : []),
    ['Last used', key.lastUsedAt === null ? 'Never' : <When at={key.lastUsedAt} now={now} />],
    ...(overlapUntil === null
      ? []
      : [['Old secret works until', <ExactTime at={overlapUntil} />] as const]),
    ...(key.pausedAt === null
      ? []
      : ([
          [
            'Paused',
            <>
              <When at={key.pausedAt} now={now} />
              {pauseWords(key.pausedReason)}
            </>,
          ],
        ] as const)),
    ...(key.revokedAt === null
      ? []
      : ([
          ['Revoked', <ExactTime at={key.revokedAt} />],
          ['Revoked by', <code>{key.revokedBy}</code>],
        ] as const)),
  ]
}

const pauseWords = (reason: KeyRow['pausedReason']): string => {
  if (reason === 'brake') return ', by its brake'
  return reason === 'leak' ? ', because its secret leaked or that of the key which made it' : ''
}

const rights = ({ shown: { key } }: DetailView): Fact[] => [
  ['Models', key.models.length === 0 ? 'All' : <Codes of={key.models} />],
  ['Scopes', key.scopes.length === 0 ? 'None' : <Codes of={key.scopes} />],
  ['Tags', <Tags of={key.tags} />],
]

const limits = ({ shown: { key } }: DetailView): Fact[] => [
  ['Networks', key.ipCidrs.length === 0 ? 'Any' : <Codes of={key.ipCidrs} />],
  ...everyLimit.map(([column, { field }]): Fact => [field.label, limitText(key[column], field)]),
  ['Brake', hasBrake(key) ? <BrakeText of={key} /> : 'None'],
]

function limitText(value: Json | bigint, { options }: { options?: readonly Option[] }): Child {
  if (options) return options[value === true ? 1 : 0]?.label
  if (value === null) return 'No limit'
  return typeof value === 'bigint' ? <Amount nusd={value} /> : value.toLocaleString('en-US')
}

const BrakeText = ({ of: { brakeMinute, brakeHour, brakeRunning } }: { of: KeyRow }) => (
  <>
    {brakeMinute === null ? null : (
      <>
        <Amount nusd={brakeMinute} /> a minute
      </>
    )}
    {brakeMinute === null || brakeHour === null ? null : ', '}
    {brakeHour === null ? null : (
      <>
        <Amount nusd={brakeHour} /> an hour
      </>
    )}
    {brakeRunning === 'stop' ? '; stops open runs' : '; open runs finish'}
  </>
)

const Codes = ({ of }: { of: readonly string[] }) => (
  <ul class="bare inline">
    {of.map((one) => (
      <li>
        <code>{one}</code>
      </li>
    ))}
  </ul>
)

function Tags({ of }: { of: Readonly<Record<string, string>> }) {
  const entries = Object.entries(of)
  if (entries.length === 0) return <>None</>
  return (
    <ul class="bare">
      {entries.map(([name, value]) => (
        <li>
          <code>{name}</code>: {value}
        </li>
      ))}
    </ul>
  )
}
