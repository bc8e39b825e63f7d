/**
 * The JSX of our pages, safe by default: every child is escaped unless JSX made it, and there is
 * no way to say otherwise. Text of people, models and upstreams can go anywhere a child or an
 * attribute value stands. What the Content-Security-Policy would block does not render: it throws.
 */
import type {} from '@kitajs/html/jsx-runtime'
import { isSafeUrl } from './safe-url.ts'

/** HTML that JSX made. Only this module makes one. */
class Markup {
  constructor(private readonly html: string) {}
  toString(): string {
    return this.html
  }
}

export type { Markup }

export type Child =
  | Markup
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly Child[]

type Props = Readonly<Record<string, unknown>>
type Component = (props: never) => Markup | null

/** What `<Tag …>` becomes. Called by the code that TypeScript and Bun make of JSX. */
export function jsx(type: string | Component, props: Props): Markup {
  if (typeof type === 'function') return type(props as never) ?? nothing
  if (!/^[a-zA-Z][\w-]*$/.test(type) || refusedTags.has(type.toLowerCase())) {
    throw new TypeError(`<${type}> is not an element that pages may use`)
  }
  let open = `<${type}`
  // A canonical link is read, never loaded: it may name our own origin, as a link may.
  const tag = type === 'link' && props['rel'] === 'canonical' ? 'a' : type
  for (const name in props) if (name !== 'children') open += attribute(tag, name, props[name])
  if (voidTags.has(type)) return new Markup(`${open}>`)
  const body = renderChild(props['children'] as Child)
  if (type === 'script' && body !== '') throw new TypeError('a script comes from its own file')
  return new Markup(`${open}>${body}</${type}>`)
}

export { jsx as jsxDEV, jsx as jsxs }

export const Fragment = ({ children }: { children?: Child }): Markup =>
  new Markup(renderChild(children))

/** The HTML of anything that can stand between tags; text comes out escaped. */
export function renderChild(child: Child): string {
  if (child === null || child === undefined || typeof child === 'boolean') return ''
  if (typeof child === 'string') return Bun.escapeHTML(child)
  if (child instanceof Markup) return child.toString()
  if (typeof child === 'number' || typeof child === 'bigint') return String(child)
  if (Array.isArray(child)) return child.map(renderChild).join('')
  throw new TypeError(`a ${typeof child} is nothing to show`)
}

const nothing = new Markup('')

const voidTags = new Set('area br col hr img input link meta source track wbr'.split(' '))

/** Elements that run, frame or restyle; no page needs them. */
const refusedTags = new Set(['base', 'embed', 'frame', 'iframe', 'object', 'style', 'template'])

/** Attributes that a browser fetches or goes to. */
const urlNames = /^(href|src|action|formaction|poster|hx-(get|post|put|patch|delete|sse:connect))$/

function attribute(tag: string, name: string, value: unknown): string {
  if (!/^[a-zA-Z][\w:.-]*$/.test(name) || /^(on|hx-on|style$|srcdoc$|srcset$)/i.test(name)) {
    throw new TypeError(`"${name}" is not an attribute that pages may use`)
  }
  const text = attributeText(name, value)
  if (text === undefined) return ''
  if (text === '') return ` ${name}`
  if (urlNames.test(name) && !isSafeUrl(tag, name, text)) return ` ${name}="#"`
  if (name.startsWith('hx-') && /^\s*(js|javascript):/i.test(text)) {
    throw new TypeError(`${name} may not hold code`)
  }
  return ` ${name}="${Bun.escapeHTML(text)}"`
}

/** The value as written; undefined leaves the attribute out. */
function attributeText(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  // An ARIA state that is false says something; any other attribute says it by being absent.
  if (typeof value === 'boolean') {
    if (name.startsWith('aria-')) return String(value)
    return value ? '' : undefined
  }
  if (typeof value === 'string') return value === '' && name === 'class' ? undefined : value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (name === 'class' && Array.isArray(value)) return value.filter(Boolean).join(' ') || undefined
  throw new TypeError(`${name} cannot hold a ${typeof value}`)
}

type OwnProps = { children?: Child; autofocus?: boolean } & {
  [hx: `hx-${string}`]: string | undefined
} & {
  [data: `data-${string}`]: string | number | bigint | undefined
}

export declare namespace JSX {
  type Element = Markup
  type ElementType = keyof IntrinsicElements | Component
  interface ElementChildrenAttribute {
    children: unknown
  }
  type IntrinsicElements = {
    [Tag in keyof globalThis.JSX.IntrinsicElements]: Omit<
      globalThis.JSX.IntrinsicElements[Tag],
      'children' | 'safe' | 'style'
    > &
      OwnProps
  } & {
    /** Its own type lacks the attribute. */
    meta: { media?: string }
    /** A part of an answer that htmx puts elsewhere: `hx-target` names where. */
    'hx-partial': OwnProps
  }
}
