/** Reads the text of the one argument of a function while its JSON is still coming. */
import { argument } from './freeform.ts'

const start = new RegExp(`^\\s*\\{\\s*"${argument}"\\s*:\\s*"`)
/** How JSON may begin before that text is there. */
const beginning = /^\s*(\{\s*("[a-z]*("\s*(:\s*)?)?)?)?$/

const escapes = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
])

export class UnwrappedText {
  private state: 'before' | 'in' | 'after' | 'other' = 'before'
  /** JSON that is not read yet: half an escape, or all of another form. */
  private waiting = ''

  /** Adds a piece of JSON; returns the text that is known by it. */
  add(json: string): string {
    if (this.state === 'after') return ''
    this.waiting += json
    if (this.state === 'before') {
      const [opening] = start.exec(this.waiting) ?? []
      if (opening !== undefined) {
        this.state = 'in'
        this.waiting = this.waiting.slice(opening.length)
      } else if (!beginning.test(this.waiting)) this.state = 'other'
    }
    return this.state === 'in' ? this.read() : ''
  }

  /** The JSON of another form; '' where all was read. */
  rest(): string {
    const { state, waiting } = this
    this.waiting = ''
    return state === 'other' || state === 'before' ? waiting : ''
  }

  private read(): string {
    let text = ''
    let from = 0
    for (;;) {
      const special = this.next(from)
      text += this.waiting.slice(from, special)
      from = special
      const mark = this.waiting[special]
      if (mark === '"') {
        this.state = 'after'
        this.waiting = ''
        return text
      }
      const length = mark === '\\' ? (this.waiting[special + 1] === 'u' ? 6 : 2) : 0
      if (length === 0 || special + length > this.waiting.length) break
      const sign = this.waiting.slice(special, special + length)
      text += charOf(sign)
      from += length
    }
    this.waiting = this.waiting.slice(from)
    return text
  }

  /** Returns the place of the next quote or escape, or the end. */
  private next(from: number): number {
    const special = /["\\]/g
    special.lastIndex = from
    return special.exec(this.waiting)?.index ?? this.waiting.length
  }
}

function charOf(sign: string): string {
  const name = sign[1] ?? ''
  if (name !== 'u') return escapes.get(name) ?? name
  const code = Number.parseInt(sign.slice(2), 16)
  return Number.isNaN(code) ? '' : String.fromCharCode(code)
}
