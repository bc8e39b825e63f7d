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
  /** Goes along: what else narrows the list. */
  children?: Child
}

/** Asks a list for what fits; the answer has an address, so it works without script. */
export const Search = ({ action, name, label, value, placeholder, ...more }: SearchProps) => (
  <search>
    <form class="row" method="get" action={action}>
      {more.children}
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
      <Button>{more.button ?? 'Find'}</Button>
    </form>
  </search>
)

/** One thing that a list is narrowed by: a choice where it has options, else a text. */
export type Filter = {
  name: string
  label: string
  /** Behind "Any". */
  options?: readonly Option[]
  placeholder?: string
  isDay?: boolean
  /** Seldom used, behind "More". */
  isMore?: boolean
}

/** Options whose label is their value. */
export const sameOptions = (values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value }))

/** Options by their values, each with its words. */
export const namedOptions = (words: Readonly<Record<string, string>>): Option[] =>
  Object.entries(words).map(([value, label]) => ({ value, label }))

/** Options of which the first narrows nothing. */
const optionsOf = (first: string, words: Readonly<Record<string, string>>): Option[] => [
  { value: '', label: first },
  ...namedOptions(words),
]

const times = { '24h': 'Last 24 h', '7d': 'Last 7 days', '30d': 'Last 30 days' }

/** What every list of runs or receipts is narrowed and sorted by. */
const shared: readonly Filter[] = [
  { name: 'last', label: 'When', options: optionsOf('Any time', times) },
  { name: 'id', label: 'Id', placeholder: 'run_… or rcpt_…' },
  {
    name: 'sort',
    label: 'Sort',
    options: optionsOf('Newest first', { costliest: 'Costliest first' }),
  },
  { name: 'from', label: 'From', isDay: true, isMore: true },
  { name: 'to', label: 'To', isDay: true, isMore: true },
  {
    name: 'limit',
    label: 'Show',
    options: optionsOf('20', { 50: '50', 100: '100' }),
    isMore: true,
  },
]

type BarProps = {
  /** The page that lists. It takes empty fields out of its address by itself. */
  action: string
  /** The panel that changes in place, so that a field that is chosen by keys keeps the focus. */
  target: string
  query: URLSearchParams
  filters: readonly Filter[]
}

/** One row of chips that narrow a list as they change; without script a button sends them. */
export const FilterBar = ({ action, target, query, filters }: BarProps) => {
  const all = [...filters, ...shared]
  const more = all.filter(({ isMore }) => isMore)
  const chip = (of: Filter) => <Chip of={of} value={query.get(of.name) ?? ''} />
  return (
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
        {all.filter(({ isMore }) => !isMore).map(chip)}
        <span class="row">
          <details open={more.some(({ name }) => query.has(name))}>
            <summary>More</summary>
            <div class="chips">{more.map(chip)}</div>
          </details>
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
}

type ChipProps = { of: Filter; value: string }

const Chip = ({ of, value }: ChipProps) =>
  of.options ? <SelectChip of={of} value={value} /> : <TextChip of={of} value={value} />

const SelectChip = ({ of: { name, label, options = [] }, value }: ChipProps) => (
  <label class="chip">
    <span>{label}</span>
    <select name={name}>
      {withValue(options, value).map((one) => (
        <option value={one.value} selected={one.value === value}>
          {one.label}
        </option>
      ))}
    </select>
  </label>
)

const dayText = /^(\d{4}-\d{2}-\d{2})?$/

/** A date field cannot show other values, so anything but a date gets a text field. */
const TextChip = ({ of: { name, label, placeholder, isDay }, value }: ChipProps) => (
  <label class={['chip', value !== '' && 'set']}>
    <span>{label}</span>
    <input
      name={name}
      type={isDay && dayText.test(value) ? 'date' : 'search'}
      value={value}
      placeholder={placeholder}
      autocomplete="off"
      maxlength="400"
    />
  </label>
)

/** The options behind "Any", and a chosen value that is not among them: an old model, say. */
function withValue(options: readonly Option[], value: string): readonly Option[] {
  const known = options[0]?.value === '' ? options : [{ value: '', label: 'Any' }, ...options]
  return known.some((one) => one.value === value) ? known : [...known, { value, label: value }]
}
