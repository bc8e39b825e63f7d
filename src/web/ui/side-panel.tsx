/** A panel over the page: what a link leads to is shown there, and the list stays where it is. */
import { Icon } from './icon.tsx'
import type { Child } from './jsx-runtime.ts'

type LinkProps = {
  children: Child
  /** A page of its own, which answers htmx with its panel alone. */
  href: string
  look?: 'bad' | 'plain'
  small?: boolean
  /** Left out where a table has no room for it. */
  folds?: boolean
}

/** Opens what `href` shows over the page; without script it goes there. */
export const SideLink = ({ children, href, look, small, folds }: LinkProps) => (
  <a
    class={['btn', look, small && 'small', folds && 'spare']}
    href={href}
    hx-get={href}
    hx-target="#side-panel"
    hx-swap="innerHTML"
  >
    {children}
  </a>
)

/** Once on a page with such links. A script opens it when something came into it. */
export const SidePanel = () => (
  <dialog class="side" id="side">
    <button class="btn plain small" type="button" data-close="">
      <Icon name="bad" />
      <span class="vh">Close</span>
    </button>
    <div id="side-panel" />
  </dialog>
)
