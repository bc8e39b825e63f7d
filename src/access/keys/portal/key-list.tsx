/** The page of all keys. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Page } from '../../../kernel/pagination.ts'
import { pathWith } from '../../../web/http/query.ts'
import { ButtonLink } from '../../../web/ui/button.tsx'
import { ChoiceTabs, FieldSearch } from '../../../web/ui/filters.tsx'
import { List } from '../../../web/ui/paged-list.tsx'
import { PageHead } from '../../../web/ui/panel.tsx'
import { SidePanel } from '../../../web/ui/side-panel.tsx'
import type { KeyListFilter } from '../browse.ts'
import type { ShownKey } from '../shown-key.ts'
import { ownKeyQuery, stateWords } from './key-query.ts'
import { keyColumns, keysPath, nearlySpentFirst, newKeyPath } from './key-state.tsx'

export type ListView = {
  account: string
  now: Millis
  wanted: KeyListFilter
  found: Page<ShownKey>
  /** Whether this is the first page. */
  isFirst: boolean
}

export const KeysPage = ({ list }: { list: ListView }) => (
  <>
    <PageHead title="Keys">
      <ButtonLink href={newKeyPath} look="go" icon="plus">
        New key
      </ButtonLink>
    </PageHead>
    <KeysPanel list={list} />
    <SidePanel />
  </>
)

/** Also the fragment that htmx swaps. */
export function KeysPanel({ list }: { list: ListView }) {
  const { account, wanted, found, isFirst, now } = list
  return (
    <List
      id="all-keys"
      title={wanted.state ? `${stateWords[wanted.state]} keys` : 'Keys in use'}
      noun="keys"
      items={isTree(wanted) ? nearlySpentFirst(found.items) : found.items}
      columns={keyColumns(now, isTree(wanted) ? 'tree' : 'list')}
      href={pathWith(keysPath, wanted)}
      next={found.hasMore ? found.items.at(-1)?.key.id : undefined}
      isFirst={isFirst}
      hash={account}
      empty={emptyOf(wanted)}
      aside={<Filters wanted={wanted} />}
      words={footText(list)}
    />
  )
}

const isTree = ({ state, name }: KeyListFilter): boolean => state === undefined && !name

const Filters = ({ wanted }: { wanted: KeyListFilter }) => {
  const list = { path: keysPath, of: ownKeyQuery, values: wanted }
  return (
    <div class="row">
      <FieldSearch {...list} name="name" button="Filter" />
      <ChoiceTabs {...list} name="state" />
    </div>
  )
}

function emptyOf({ name, state }: KeyListFilter) {
  if (name || state) {
    return {
      title: name ? 'No matching keys' : 'No keys',
      text: name ? `No key has “${name}” in its name.` : 'No key is in this state.',
      action: <ButtonLink href={keysPath}>Show the keys in use</ButtonLink>,
    }
  }
  return {
    title: 'No keys in use',
    text: 'Each agent calls with its own key and spends from your balance up to its cap.',
    action: (
      <ButtonLink href={newKeyPath} look="go">
        Create a key
      </ButtonLink>
    ),
  }
}

function footText({ found: { items, hasMore }, wanted, isFirst }: ListView): string | undefined {
  if (hasMore) return `The newest ${items.length}.`
  if (wanted.state === 'expired' || wanted.state === 'revoked' || !isFirst) return undefined
  return items.length === 1 ? '1 key' : `${items.length} keys`
}
