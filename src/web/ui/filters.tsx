/** Filters of a list. */
import { Button } from './button.tsx'
import type { Option } from './form.tsx'
import { Icon } from './icon.tsx'
import type { Child } from './jsx-runtime.ts'

type Tab = { href: string; label: Child; count?: number }

/** Views of one list, each with an address of its own. */
export const Tabs = ({
  label,
  tabs,
  here,
}: {
  label: string
  tabs: readonly Tab[]
  here: string
}) => (
  <nav class="tabs" aria-label={label}>
    {tabs.map(({ href, label, count }) => (
      <a href={href} aria-current={href === here ? 'page' : undefined}>
        {label}
        {count === undefined ? null : <span class="n">{count.toLocaleString('en-US')}</span>}
      </a>
    ))}
  </nav>
)

/** A link that turns one thing on or off; the address keeps it. */
export const Switch = ({ label, isOn, href }: { label: string; isOn: boolean; href: string }) => (
  <a class="switch" href={href} aria-current={isOn ? 'true' : undefined}>
    {label}
  </a>
)

type SearchProps = {
  /** The page that lists. */
  action: string
  name: string
  label: string
  value?: string
  placeholder?: string
  button?: string
}

/** Asks a list for what fits; the answer has an address, so it works without script. */
export const Search = ({ action, name, label, value, placeholder, button }: SearchProps) => (
  <search>
    <form class="row" method="get" action={action}>
      <label class="vh" for={`search-${name}`}>
        {label}
      </label>
      <input
        class="in"
        id={`search-${name}`}
        type="search"
        name={name}
        value={value}
        placeholder={placeholder}
      />
      <Button>{button ?? 'Find'}</Button>
    </form>
  </search>
)

type BarProps = {
  /** The page that lists. It takes empty fields out of its address by itself. */
  action: string
  /** The panel that changes in place, so that a field that is chosen by keys keeps the focus. */
  target: string
  children: Child
  /** Seldom used, behind "More". */
  more?: Child
  /** Whether one of those narrows the list. */
  isMoreOpen?: boolean
}

/** One row of chips that narrow a list as they change; without script a button sends them. */
export const FilterBar = ({ action, target, children, more, isMoreOpen }: BarProps) => (
  <search class="filterbar">
    <div class="row">
      <button class="btn small" type="button" popovertarget="filters">
        <Icon name="search" />
        Filters
      </button>
      <a class="btn small plain clear" href={action}>
        Clear
      </a>
    </div>
    <form
      class="chips"
      id="filters"
      popover
      method="get"
      action={action}
      hx-get={action}
      hx-trigger="change"
      hx-target={target}
      hx-swap="outerHTML"
    >
      {children}
      <span class="row">
        {more ? (
          <details open={isMoreOpen === true}>
            <summary>More</summary>
            <div class="chips">{more}</div>
          </details>
        ) : null}
        <button class="btn small apply" type="submit">
          Filter
        </button>
        <a class="btn small plain clear" href={action}>
          Clear
        </a>
      </span>
    </form>
  </search>
)

type ChipProps = { name: string; label: string; value: string }

/** One of several; the first option narrows nothing. */
export const SelectChip = ({ options, ...chip }: ChipProps & { options: readonly Option[] }) => (
  <label class="chip">
    <span>{chip.label}</span>
    <select name={chip.name}>
      {options.map(({ value, label }) => (
        <option value={value} selected={value === chip.value}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

/** A text or a date. */
export const TextChip = (chip: ChipProps & { type?: 'search' | 'date'; placeholder?: string }) => (
  <label class={['chip', chip.value !== '' && 'set']}>
    <span>{chip.label}</span>
    <input
      name={chip.name}
      type={chip.type ?? 'search'}
      value={chip.value}
      placeholder={chip.placeholder}
      autocomplete="off"
      maxlength="400"
    />
  </label>
)

/** The sort order. */
export const SortChip = ({ value }: { value: string }) => (
  <SelectChip
    name="sort"
    label="Sort"
    value={value}
    options={[
      { value: '', label: 'Newest first' },
      { value: 'costliest', label: 'Costliest first' },
    ]}
  />
)

/** Whether a list with this address is sorted by cost. */
export const isByCost = (query: URLSearchParams): boolean => query.get('sort') === 'costliest'

/** Below a list that is sorted by cost: among how many. */
export const sortedText = (what: string, most: number): string =>
  `Among the ${most.toLocaleString('en-US')} newest ${what}.`

/** How many a page shows. */
export const SizeChip = ({ value }: { value: string }) => (
  <SelectChip
    name="limit"
    label="Show"
    value={value}
    options={[
      { value: '', label: '20' },
      { value: '50', label: '50' },
      { value: '100', label: '100' },
    ]}
  />
)

/** The options behind "Any", and a chosen value that is not among them: an old model, say. */
export function orAny(options: readonly Option[], chosen: string | null): Option[] {
  const isKnown = !chosen || options.some(({ value }) => value === chosen)
  const others = isKnown ? [] : [{ value: chosen, label: chosen }]
  return [{ value: '', label: 'Any' }, ...options, ...others]
}

const times = [
  { value: '', label: 'Any time' },
  { value: '24h', label: 'Last 24 h' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
]

/** The time up to now. */
export const TimeChip = ({ query }: { query: URLSearchParams }) => (
  <SelectChip name="last" label="When" value={query.get('last') ?? ''} options={times} />
)

/** The first and the last day. */
export const RangeChips = ({ query }: { query: URLSearchParams }) => (
  <>
    <DayChip name="from" label="From" value={query.get('from') ?? ''} />
    <DayChip name="to" label="To" value={query.get('to') ?? ''} />
  </>
)

/** A date field cannot show other values, so anything but a date gets a text field. */
const DayChip = (chip: ChipProps) => (
  <TextChip {...chip} type={/^(\d{4}-\d{2}-\d{2})?$/.test(chip.value) ? 'date' : 'search'} />
)

/** A run or its receipt, whole or in part. */
export const IdChip = ({ query }: { query: URLSearchParams }) => (
  <TextChip name="id" label="Id" value={query.get('id') ?? ''} placeholder="run_… or rcpt_…" />
)
