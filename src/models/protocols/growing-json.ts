/** A text of JSON that comes in pieces: a piece costs its own length, however long the text is. */

export class GrowingJson {
  private text = ''
  /** The pieces that the scan did not reach yet. */
  private unread: string[] = []
  private opener: number | undefined
  private depth = 0
  private isQuoted = false
  private isEscaped = false
  /** Whether the object or list has ended, as brackets are counted. */
  private isClosed = false
  /** Whether anything else stands around it. */
  private isOdd = false
  /** Whether the text that ended is JSON; undefined until it is parsed, once. */
  private isSound: boolean | undefined

  add(piece: string): void {
    if (piece === '') return
    this.text += piece
    this.unread.push(piece)
  }

  get isEmpty(): boolean {
    return this.text === ''
  }

  /** Texts of other lengths are not compared: that would copy all that came. */
  equals(text: string): boolean {
    return text.length === this.text.length && text === this.text
  }

  toString(): string {
    return this.text
  }

  /** Whether it is a whole object or list. */
  get isWhole(): boolean {
    for (const piece of this.unread) this.scan(piece)
    this.unread = []
    if (!this.isClosed || this.isOdd) return false
    this.isSound ??= isJson(this.text)
    return this.isSound
  }

  get isWholeObject(): boolean {
    return this.isWhole && this.opener === brace
  }

  private scan(piece: string): void {
    if (this.isOdd) return
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (this.isQuoted) {
        if (this.isEscaped) this.isEscaped = false
        else if (code === backslash) this.isEscaped = true
        else if (code === quote) this.isQuoted = false
      } else if (this.depth === 0) {
        if (isSpace(code)) continue
        this.isOdd = this.isClosed || (code !== brace && code !== bracket)
        if (this.isOdd) return
        this.opener = code
        this.depth = 1
      } else if (code === quote) this.isQuoted = true
      else if (code === brace || code === bracket) this.depth++
      else if (code === brace + 2 || code === bracket + 2) {
        this.depth--
        this.isClosed = this.depth === 0
      }
    }
  }
}

const [quote, backslash, bracket, brace] = [0x22, 0x5c, 0x5b, 0x7b]

const isSpace = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
