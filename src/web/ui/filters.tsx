/** Filters of a list. */
import { Button } from './button.tsx'
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
