/** Builds elements by hand, so that text from a file is never parsed as HTML. */

type Attributes = Record<string, string | boolean>

/** An element with attributes and children; `false` leaves an attribute out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  setAll(made, attributes)
  made.append(...children)
  return made
}

/** A drawing of paths in a square. */
export function drawing(box: number, paths: readonly string[], attributes: Attributes): SVGElement {
  const svg = document.createElementNS(svgSpace, 'svg')
  setAll(svg, { viewBox: `0 0 ${box} ${box}`, 'aria-hidden': 'true', ...attributes })
  for (const d of paths) {
    const path = document.createElementNS(svgSpace, 'path')
    path.setAttribute('d', d)
    svg.append(path)
  }
  return svg
}

/** The element with this id that the page has. */
export function byId<T extends Element>(id: string, kind: new () => T): T {
  const found = document.getElementById(id)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${id}`)
}

const svgSpace = 'http://www.w3.org/2000/svg'

function setAll(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) target.setAttribute(name, value === true ? '' : value)
  }
}
