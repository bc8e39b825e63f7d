/** Parses JSON and finds repeated members. */
import { endOfString } from '../kernel/json-size.ts'
import type { Problem } from './receipt.ts'

/**
 * A JSON text as read: its value, and each member that an object holds twice. `JSON.parse` keeps
 * the last of two members with one name; another reader may show the first.
 */
export type JsonText = { value: unknown; repeated: Problem[] }

/** Reads a JSON text; undefined when it is not JSON. */
export function readJsonText(text: string): JsonText | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return { value, repeated: repeatedMembers(text) }
}

/** Enough to mend an honest file; bounds the work on a hostile one. */
const mostTold = 20

/** A bracket open at a point of the text: an object with its names so far, or a list. */
type Level =
  | { names: Set<string>; name: string; expectsName: boolean }
  | { names: undefined; index: number }

/** The members that stand twice in one object of a valid JSON text. Names compare unescaped. */
export function repeatedMembers(text: string): Problem[] {
  const problems: Problem[] = []
  const open: Level[] = []
  for (let at = 0; at < text.length && problems.length < mostTold; at++) {
    const char = text[at]
    const level = open.at(-1)
    if (char === '"') {
      const end = endOfString(text, at)
      if (level?.names && level.expectsName) {
        const name: string = JSON.parse(text.slice(at, end + 1))
        Object.assign(level, { name, expectsName: false })
        if (level.names.has(name)) problems.push({ path: pathOf(open), message: 'given twice' })
        level.names.add(name)
      }
      at = end
    } else if (char === '{') open.push({ names: new Set(), name: '', expectsName: true })
    else if (char === '[') open.push({ names: undefined, index: 0 })
    else if (char === '}' || char === ']') open.pop()
    else if (char === ',') {
      if (level?.names) level.expectsName = true
      else if (level) level.index++
    }
  }
  return problems
}

/** The path of the innermost open member, such as `receipt.charge.lines[0].price`. */
function pathOf(open: readonly Level[]): string {
  let path = ''
  for (const level of open) {
    if (!level.names) path += `[${level.index}]`
    else path += path === '' ? level.name : `.${level.name}`
  }
  return path.length > mostPath ? `…${path.slice(-mostPath)}` : path
}

/** The end of a long path names the member. */
const mostPath = 99
