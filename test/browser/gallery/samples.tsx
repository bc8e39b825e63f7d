import { Amount } from '../../../src/web/ui/amount.tsx'
import type { Frame } from '../../../src/web/ui/frame.ts'
import { IdLink } from '../../../src/web/ui/hash.tsx'
import { Meter } from '../../../src/web/ui/meter.tsx'
import { RosetteMark } from '../../../src/web/ui/rosette.tsx'
import { Badge, type Tone } from '../../../src/web/ui/status.tsx'
import type { Column } from '../../../src/web/ui/table.tsx'
import { When } from '../../../src/web/ui/when.tsx'

/** The moment the gallery is seen: Nov 21, 2026. */
export const now = Date.UTC(2026, 10, 21, 1, 0, 0)
export const account = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
export const signer = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

const minute = 60_000
const day = 86_400_000

/** A hash that looks like one, from anything. */
export const hashOf = (text: string): string =>
  `0x${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`

export const frame: Frame = {
  nav: [
    { href: '/overview', label: 'Overview', icon: 'home', group: 'Use' },
    { href: '/console', label: 'Console', icon: 'console', group: 'Use' },
    { href: '/runs', label: 'Runs', icon: 'runs', group: 'Use' },
    { href: '/receipts', label: 'Receipts', icon: 'receipts', group: 'Use' },
    { href: '/keys', label: 'Keys', icon: 'keys', group: 'Account' },
    { href: '/deposits', label: 'Deposits', icon: 'deposits', group: 'Account' },
    { href: '/plan', label: 'Plan', icon: 'plan', group: 'Account' },
    { href: '/usage', label: 'Usage', icon: 'usage', group: 'Account' },
    { href: '/passports', label: 'Passport', icon: 'passport', group: 'Account' },
    { href: '/sessions', label: 'Sessions', icon: 'sessions', group: 'Account' },
    { href: '/explorer', label: 'Explorer', group: 'Public' },
    { href: '/receipt', label: 'Verify a receipt', group: 'Public' },
    { href: '/models', label: 'Models', group: 'Public' },
    { href: '/docs', label: 'API', group: 'Public' },
  ],
  foot: () => ({
    isWell: true,
    signer,
    chainId: 4663,
    block: 8_120_447,
    status: 'All systems normal',
    version: '1.0.0',
  }),
  isAdmin: () => false,
  counts: () => ({ '/runs': '1,284', '/keys': '4' }),
  baseUrl: () => 'https://gate.example',
}

export type Run = {
  id: string
  model: string
  key: string
  tokens: string
  cost: bigint
  state: string
  tone: Tone
  at: number
  by?: string
}

const run = (i: number, model: string, key: string, tokens: string, cost: bigint): Run => ({
  id: `rcpt_01k7qz4n8e3v${hashOf(`${i}`).slice(2, 16)}`,
  model,
  key,
  tokens,
  cost,
  state: cost === 0n ? 'Failed, not charged' : i < 2 ? 'Signed' : 'Anchored',
  tone: cost === 0n ? 'bad' : i < 2 ? 'wait' : 'ok',
  at: now - i * i * 7 * minute,
  ...(i % 2 === 0 ? { by: ['harbor-lab', 'tidepool', 'mosslight'][i % 3] ?? '' } : {}),
})

export const runs: Run[] = [
  run(0, 'acme/small', 'crawler-01', '812', 1_218_000n),
  run(1, 'acme/small', 'crawler-01', '1,904', 2_856_038n),
  run(2, 'acme/large', 'research-fleet', '6,310', 94_650_000n),
  run(3, 'counterfoil/embed-1', 'crawler-02', '512', 51_200n),
  run(4, 'acme/large', 'research-fleet', '—', 0n),
]

export const runColumns: Column<Run>[] = [
  { head: 'Figure', kind: 'unnamed', cell: ({ id }) => <RosetteMark hash={hashOf(id)} /> },
  { head: 'Receipt', cell: ({ id }) => <IdLink value={id} href="/receipt" /> },
  { head: 'Model', cell: ({ model }) => model },
  { head: 'Key', kind: 'optional', cell: ({ key }) => key },
  { head: 'Tokens', kind: 'optional-number', cell: ({ tokens }) => tokens },
  { head: 'Cost', kind: 'number', cell: ({ cost }) => <Amount nusd={cost} places={9} /> },
  { head: 'State', cell: ({ state, tone }) => <Badge tone={tone}>{state}</Badge> },
  { head: 'When', kind: 'optional', cell: ({ at }) => <When at={at} now={now} /> },
]

export type Key = {
  name: string
  depth: number
  state: string
  tone: Tone
  spent: bigint
  cap: bigint
  usedAt: number
  expiresAt: number
}

export const keys: Key[] = [
  {
    name: 'research-fleet',
    depth: 0,
    state: 'Usable',
    tone: 'ok',
    spent: 31_400_000_000n,
    cap: 50_000_000_000n,
    usedAt: now - 2 * minute,
    expiresAt: now + 90 * day,
  },
  {
    name: 'crawler-01',
    depth: 1,
    state: 'Usable',
    tone: 'ok',
    spent: 9_310_000_000n,
    cap: 10_000_000_000n,
    usedAt: now - 3000,
    expiresAt: now + 90 * day,
  },
  {
    name: 'crawler-02',
    depth: 1,
    state: 'Expires in 3 days',
    tone: 'warn',
    spent: 2_050_000_000n,
    cap: 10_000_000_000n,
    usedAt: now - 61 * minute,
    expiresAt: now + 3 * day + minute,
  },
  {
    name: 'old-laptop',
    depth: 0,
    state: 'Revoked',
    tone: 'bad',
    spent: 5_000_000_000n,
    cap: 5_000_000_000n,
    usedAt: now - 50 * day,
    expiresAt: now + 10 * day,
  },
]

export const keyColumns: Column<Key>[] = [
  {
    head: 'Key',
    cell: ({ name, depth }) => (
      <div class={depth > 0 ? ['kid', `d${depth}`] : undefined}>
        <strong>{name}</strong>
        <small>
          <code class="quiet">{hashOf(name).slice(2, 14)}</code>
        </small>
      </div>
    ),
  },
  { head: 'State', cell: ({ state, tone }) => <Badge tone={tone}>{state}</Badge> },
  { head: 'Spent of cap', cell: ({ spent, cap }) => <Meter used={spent} limit={cap} /> },
  { head: 'Last used', cell: ({ usedAt }) => <When at={usedAt} now={now} /> },
  { head: 'Expires', cell: ({ expiresAt }) => <When at={expiresAt} now={now} /> },
  {
    head: 'Actions',
    kind: 'unnamed',
    cell: ({ name }) => (
      <a class="btn small" href="/keys">
        Manage<span class="vh"> {name}</span>
      </a>
    ),
  },
]
