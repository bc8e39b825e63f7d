/** The canonical JSON text of a value (RFC 8785). */
import canonicalize from 'canonicalize'

/** A JSON value as parsed. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }

/** Whether {@link canonical} takes a value: finite numbers, whole characters, and not too deep. */
export function hasCanonicalForm(value: Json, levels = 100): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (levels === 0) return false
  if (Array.isArray(value)) {
    return value.every((item) =>
      // Most lists are vectors of a thousand numbers and more.
      typeof item === 'number' ? Number.isFinite(item) : hasCanonicalForm(item, levels - 1),
    )
  }
  return Object.entries(value).every(
    ([name, member]) => name.isWellFormed() && hasCanonicalForm(member, levels - 1),
  )
}

/**
 * The one serialisation of a JSON value that everybody agrees on (RFC 8785, JCS).
 * @throws on NaN, infinities and lone surrogates, which have none.
 */
export function canonical(value: unknown): string {
  const ordered = inOrder(value)
  if (ordered !== undefined) {
    // All but the order of members the engine writes as the standard wants it. Half a pair comes
    // out as an escape, and so may what only looks like one.
    const text = JSON.stringify(ordered)
    if (!text.includes('\\ud')) return text
  }
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
}

/** A copy whose members come in order; undefined for what only the library knows how to take. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      const one = inOrder(item)
      if (one === undefined) return undefined
      items.push(one)
    }
    return items
  }
  if (!isPlain(value)) return undefined
  const copy: { [name: string]: unknown } = {}
  for (const name of sorted(Object.keys(value))) {
    const member = isSortable(name) ? inOrder(value[name]) : undefined
    if (member === undefined) return undefined
    copy[name] = member
  }
  return copy
}

const isPlain = (value: unknown): value is { [name: string]: unknown } =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Not one that an object keeps before all others, nor one that means something else there. */
function isSortable(name: string): boolean {
  const code = name.charCodeAt(0)
  return !(code >= 0x30 && code <= 0x39) && name !== '__proto__' && name !== 'toJSON'
}

/** Sorts in place by UTF-16 units, as `sort` does; a few names by insertion, which is faster. */
function sorted(names: string[]): string[] {
  if (names.length > 8) return names.sort()
  for (let at = 1; at < names.length; at++) {
    const name = names[at] ?? ''
    let to = at
    for (; to > 0 && (names[to - 1] ?? '') > name; to--) names[to] = names[to - 1] ?? ''
    names[to] = name
  }
  return names
}
