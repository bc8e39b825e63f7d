import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import type { Json } from '../../../src/kernel/canonical.ts'
import type { JsonObject } from '../../../src/kernel/json-object.ts'

/** The types of an official SDK, as far as values can be made of them. */
export type SdkTypes = {
  /** The names in a union. */
  union(name: string): string[]
  /** Values of a type, each text of which is a mark of its own. */
  value(name: string): fc.Arbitrary<Json>
}

/** A text that no label is long enough for. */
export const mark = fc.nat().map((at) => `mark${at}z`.padEnd(80, 'x'))

const mostLevels = 5

/** Reads the declarations of a file of `node_modules`. */
export function sdkTypes(path: string): SdkTypes {
  const url = new URL(`../../../node_modules/${path}`, import.meta.url)
  const text = readFileSync(url, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')

  /** Where the body of a type begins; a type of a namespace is looked for behind its name. */
  function bodyOf(name: string): string | undefined {
    let from = 0
    const parts = name.split('.')
    for (const part of parts.slice(0, -1)) {
      const at = text.indexOf(`namespace ${part} {`, from)
      if (at === -1) return undefined
      from = at
    }
    const found = new RegExp(`interface ${parts.at(-1)}( extends [^{]+)? \\{`).exec(
      text.slice(from),
    )
    if (!found) return undefined
    const start = from + found.index + found[0].length
    return text.slice(start, endOf(start))
  }

  function endOf(start: number): number {
    let depth = 1
    let at = start
    for (; depth > 0 && at < text.length; at++) {
      if (text[at] === '{') depth++
      else if (text[at] === '}') depth--
    }
    return at - 1
  }

  const union = (name: string): string[] => {
    const last = name.split('.').at(-1)
    const found = new RegExp(`type ${last} =([^;]+);`).exec(text)?.[1]
    return found ? partsOf(found) : []
  }

  const member = (type: string, holder: string, levels: number): fc.Arbitrary<Json> => {
    const parts = partsOf(type)
    if (parts.length > 1) return fc.oneof(...parts.map((one) => member(one, holder, levels)))
    const [literal] = /(?<=^')[^']*/.exec(type) ?? []
    if (literal !== undefined) return fc.constant(literal)
    const item =
      /^(?:Array|ReadonlyArray)<([\s\S]+)>$/.exec(type)?.[1] ?? /^(.+)\[\]$/.exec(type)?.[1]
    if (item) return fc.array(member(item, holder, levels), { maxLength: 2 })
    switch (type) {
      case 'string':
        return mark
      case 'number':
        return fc.nat(9)
      case 'boolean':
        return fc.boolean()
      case 'null':
        return fc.constant(null)
      case 'unknown':
        return fc.record({ value: mark }) as fc.Arbitrary<Json>
      default:
        return named(type, holder, levels - 1)
    }
  }

  function named(name: string, holder: string, levels: number): fc.Arbitrary<Json> {
    if (levels < 0) return fc.constant(null)
    const body = bodyOf(name) ?? bodyOf(`${holder}.${name}`)
    if (body === undefined) {
      const parts = union(name)
      if (parts.length === 0) return fc.constant(null)
      return fc.oneof(...parts.map((one) => member(one, holder, levels)))
    }
    const members = [...body.matchAll(/^\s*'?(\w+)'?\??:([^;{]+);/gm)].map(
      ([, key = '', type = '']) => [key, member(type.trim(), name, levels)] as const,
    )
    return fc.record(Object.fromEntries(members)) as fc.Arbitrary<JsonObject>
  }

  return { union, value: (name) => named(name, name, mostLevels) }
}

/** The parts of a union, of which none is cut inside of brackets. */
function partsOf(type: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const letter of type) {
    if (letter === '<' || letter === '{') depth++
    if (letter === '>' || letter === '}') depth--
    if (letter === '|' && depth === 0) {
      parts.push(part.trim())
      part = ''
    } else part += letter
  }
  return [...parts, part.trim()].filter((one) => one !== '')
}
