/** Filters of a list. */
import { pathWith } from '../http/query.ts'
import type { Chip, Query } from '../http/query-fields.ts'
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
  <a class="chip" href={href} aria-current={isOn ? 'true' : undefined}>
    {label}
  </a>
)

type FieldProps = {
  /** The page that lists. */
  path: string
  of: Query
  name: string
  /** The present filters of the list, by field. */
  values: Readonly<Record<string, string | undefined>>
}

/** The choices of a field as tabs; what else narrows the list stays. */
export function ChoiceTabs({ path, of, name, values }: FieldProps) {
  const { label, first = 'Any', words = {} } = chipOf(of, name)
  const href = (value: string) => pathWith(path, { ...values, [name]: value })
  const value = values[name] ?? ''
  return (
    <Tabs
      label={label}
      here={href(Object.hasOwn(words, value) ? value : '')}
      tabs={[['', first] as const, ...Object.entries(words)].map(([choice, label]) => ({
        href: href(choice),
        label,
      }))}
    />
  )
}

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

/** The same for a field of a list; what else narrows it stays. */
export function FieldSearch({ path, of, name, values, button }: FieldProps & { button?: string }) {
  const { label, placeholder } = chipOf(of, name)
  const search = { action: path, name, label, value: values[name] ?? '' }
  return (
    <Search {...search} {...(placeholder && { placeholder })} {...(button && { button })}>
      {Object.entries(values).map(([other, value]) =>
        value && other !== name ? <input type="hidden" name={other} value={value} /> : null,
      )}
    </Search>
  )
}

function chipOf({ fields }: Query, name: string): Chip {
  const chip = fields[name]?.chip
  if (!chip) throw new Error(`no form has the field ${name}`)
  return chip
}

/** Choices that only the page knows, by the name of their field. */
export type Choices = Readonly<Record<string, readonly Option[]>>

/** Options whose label is their value. */
export const sameOptions = (values: readonly string[]): Option[] =>
  values.map((value) => ({ value, label: value }))

type BarProps = {
  /** The page that lists. It takes empty fields out of its address by itself. */
  action: string
  /** The panel that changes in place, so that a field that is chosen by keys keeps the focus. */
  target: string
  query: URLSearchParams
  /** The fields that narrow it. */
  of: Query
  choices: Choices
}

/** One row of chips that narrow a list as they change; without script a button sends them. */
export const FilterBar = ({ action, target, query, of, choices }: BarProps) => {
  const all = Object.entries(of.fields).flatMap(([name, { chip }]) =>
    chip ? [{ ...chip, name, options: choices[name] ?? optionsOf(chip) }] : [],
  )
  const more = all.filter(({ isMore }) => isMore)
  const chip = (of: Filter) => <FilterChip of={of} value={query.get(of.name) ?? ''} />
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

type Filter = Chip & { name: string; options: readonly Option[] | undefined }
type ChipProps = { of: Filter; value: string }

/** Options by their values, the first of which narrows nothing. */
const optionsOf = ({ words, first = 'Any' }: Chip): Option[] | undefined =>
  words && [
    { value: '', label: first },
    ...Object.entries(words).map(([value, label]) => ({ value, label })),
  ]

const FilterChip = ({ of, value }: ChipProps) =>
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
