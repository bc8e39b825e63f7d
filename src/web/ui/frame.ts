/** The navigation and footer around every page. */
import type { Actor, Membership, Right } from '../../kernel/acting.ts'
import type { IconName } from './icon.tsx'
import type { Allows } from './trim.ts'

/** A page one can go to. The first path segment after `/dashboard` decides which one is current. */
export type NavItem = {
  href: string
  label: string
  /** Each its own; public pages stand in the top nav alone, which has none. */
  icon?: IconName
  /** The operator's pages are shown to admins only. */
  group: 'Use' | 'Account' | 'Operator' | 'Public'
  /** The entry it belongs to: it stands in the tabs of those pages, not in the rail. */
  within?: string
  /** What the tab of an entry is called that others stand within. */
  tab?: string
  /** Shown to roles that have it. */
  right?: Right
}

/** How many there are behind an entry: `{ '/dashboard/keys': '4' }`. */
export type NavCounts = Readonly<Record<string, string>>

/** What the foot of every page says of the service. */
export type Foot = {
  /** Address of the key that signs receipts. */
  signer: string
  chainId: number
  /** The newest block that was seen; undefined until one was. */
  block?: number
  /** In words: "All systems normal". */
  status: string
  /** Whether the dot beside the words is plain. */
  isWell: boolean
  version: string
}

/** What surrounds every page: where one can go, only ever to pages that exist, and how we are. */
export type Frame = {
  nav: readonly NavItem[]
  foot: () => Foot
  isAdmin: (wallet: string) => boolean
  /** As of the page that was opened last; empty before the first one. */
  counts?: (acting: Actor) => NavCounts
  /** Whether a role may call a route: pages leave out what would be refused. */
  allows?: Allows
  /** The accounts that the wallet is a member of. */
  memberships?: (acting: Actor) => readonly Membership[]
  /** Where this service is reached: pages name themselves by it. */
  baseUrl: () => string
  /** Of a demonstration: when its data goes, in ms. */
  resetsAt?: () => number | undefined
}
