/** Buttons and links that look like them. */
import { Icon, type IconName } from './icon.tsx'
import type { Child } from './jsx-runtime.ts'

/** `go`: the one action a panel is for. `bad`: what destroys. `plain`: the way out. */
type Look = 'go' | 'bad' | 'plain'

type ButtonProps = {
  children: Child
  look?: Look
  icon?: IconName
  small?: boolean
  /** Sent with the form, where it has several buttons. */
  name?: string
  value?: string
  disabled?: boolean
  autofocus?: boolean
}

/** Submits the form it stands in. */
export const Button = ({ children, look, icon, small, autofocus, ...named }: ButtonProps) => (
  <button
    class={['btn', look, small && 'small']}
    type="submit"
    name={named.name}
    value={named.value}
    disabled={named.disabled}
    autofocus={autofocus}
  >
    {icon ? <Icon name={icon} /> : null}
    {children}
  </button>
)

type LinkProps = {
  children: Child
  href: string
  look?: Look
  icon?: IconName
  small?: boolean
  /** Saved as a file instead of shown. */
  download?: boolean
  /** Leaves everything as it is: in a side panel it only closes it. */
  keeps?: boolean
}

/** Goes somewhere and looks like a button. */
export const ButtonLink = (props: LinkProps) => (
  <a
    class={['btn', props.look, props.small && 'small']}
    href={props.href}
    download={props.download ? '' : undefined}
    data-keeps={props.keeps ? '' : undefined}
  >
    {props.icon ? <Icon name={props.icon} /> : null}
    {props.children}
  </a>
)

/** Copies the `pre` beside it. */
export const CopyCode = () => (
  <button class="btn small copy" type="button" data-copy="pre">
    Copy
  </button>
)

/**
 * Copies the text of the element with the id `of`; without `of`, the address of the page. It shows
 * only where scripts run: without them the value itself is selected by one click.
 */
export const CopyButton = ({ of = '', label = 'Copy' }: { of?: string; label?: string }) => (
  <button class="btn copy" type="button" data-copy={of}>
    <Icon name="copy" />
    <span data-label="" aria-live="polite">
      {label}
    </span>
  </button>
)
