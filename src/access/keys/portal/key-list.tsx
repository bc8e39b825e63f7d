/** The page of all keys. */
import type { Millis } from '../../../kernel/clock.ts'
import type { Page } from '../../../kernel/pagination.ts'
import { Button, ButtonLink } from '../../../web/ui/button.tsx'
import { Empty } from '../../../web/ui/empty.tsx'
import { Tabs } from '../../../web/ui/filters.tsx'
import { PageHead, Panel } from '../../../web/ui/panel.tsx'
import { SidePanel } from '../../../web/ui/side-panel.tsx'
import { Pager, Table } from '../../../web/ui/table.tsx'
import type { Wanted } from '../browse.ts'
import type { KeyStatus } from '../key.ts'
import type { ShownKey } from '../shown-key.ts'
import { keyColumns, keysPath, newKeyPath, stateWords } from './key-state.tsx'

export type ListView = {
  account: string
  now: Millis
  wanted: Wanted
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

const states: readonly (KeyStatus | undefined)[] = [
  undefined,
  'usable',
  'paused',
  'expired',
  'revoked',
]

/** Also the fragment that htmx swaps. */
export function KeysPanel({ list }: { list: ListView }) {
  const { wanted, found, isFirst, now } = list
  const last = found.items.at(-1)?.key.id
  const isTree = wanted.state === undefined && !wanted.name
  return (
    <Panel
      id="all-keys"
      title={wanted.state ? `${stateWords[wanted.state]} keys` : 'Keys in use'}
      aside={<Filters wanted={wanted} />}
      foot={
        found.items.length === 0 && isFirst ? null : (
          <Pager
            older={found.hasMore && last ? hrefOf(wanted, last) : undefined}
            newest={isFirst ? undefined : hrefOf(wanted)}
          >
            {footText(list)}
          </Pager>
        )
      }
    >
      {found.items.length === 0 ? (
        <NoKeys list={list} />
      ) : (
        <Table
          caption="Keys"
          columns={keyColumns(now, isTree ? 'tree' : 'list')}
          rows={found.items}
        />
      )}
    </Panel>
  )
}

const Filters = ({ wanted }: { wanted: Wanted }) => (
  <div class="row">
    <search>
      <form class="row" method="get" action={keysPath}>
        {wanted.state ? <input type="hidden" name="state" value={wanted.state} /> : null}
        <label class="vh" for="filter-name">
          Filter by name
        </label>
        <input
          class="in"
          id="filter-name"
          type="search"
          name="name"
          value={wanted.name}
          placeholder="Filter by name"
          maxlength="64"
        />
        <Button>Filter</Button>
      </form>
    </search>
    <Tabs
      label="State"
      here={hrefOf(wanted)}
      tabs={states.map((state) => ({
        href: hrefOf({ ...wanted, state }),
        label: state ? stateWords[state] : 'In use',
      }))}
    />
  </div>
)

function NoKeys({ list: { account, wanted, isFirst } }: { list: ListView }) {
  if (!isFirst) {
    return (
      <Empty
        hash={account}
        title="No older keys"
        action={<ButtonLink href={hrefOf(wanted)}>Show the newest</ButtonLink>}
      >
        End of list
      </Empty>
    )
  }
  if (wanted.name || wanted.state) {
    return (
      <Empty
        hash={account}
        title={wanted.name ? 'No matching keys' : 'No keys'}
        action={<ButtonLink href={keysPath}>Show the keys in use</ButtonLink>}
      >
        {wanted.name ? `No key has “${wanted.name}” in its name.` : 'No key is in this state.'}
      </Empty>
    )
  }
  return (
    <Empty
      hash={account}
      title="No keys in use"
      action={
        <ButtonLink href={newKeyPath} look="go">
          Create a key
        </ButtonLink>
      }
    >
      Each agent calls with its own key and spends from your balance up to its cap.
    </Empty>
  )
}

function footText({ found: { items, hasMore }, wanted, isFirst }: ListView): string {
  if (hasMore) return `Showing ${items.length}. Older keys follow.`
  if (wanted.state === 'expired' || wanted.state === 'revoked' || !isFirst) return 'End of list.'
  return items.length === 1 ? '1 key' : `${items.length} keys`
}

/** The path of the list with a filter, from `after` on. */
function hrefOf({ state, name }: Wanted, after?: string): string {
  const query = new URLSearchParams()
  if (state) query.set('state', state)
  if (name) query.set('name', name)
  if (after !== undefined) query.set('after', after)
  return query.size === 0 ? keysPath : `${keysPath}?${query}`
}
