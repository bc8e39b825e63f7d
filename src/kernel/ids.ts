/** Makes ids that sort by time. */
import type { Clock, Millis } from './clock.ts'
import type { Random } from './random.ts'

/** The noun an id names; the id is `<prefix>_` and 26 Crockford base32 characters. */
export type IdPrefix =
  | 'key'
  | 'run'
  | 'rcpt'
  | 'req'
  | 'dep'
  | 'anc'
  | 'sub'
  | 'psp'
  | 'sess'
  | 'evt'
  | 'whk'
  | 'dlv'
  | 'opt'
  | 'vou'
  | 'quote'
  | 'mem'
  | 'inv'
  | 'mov'

/**
 * Makes ids: 48 bits of time, so that rows sort by age, and 80 random bits. On a shard its two
 * characters come before the time, and 70 bits are random.
 */
export type Ids = {
  make(prefix: IdPrefix): string
  /** The id of the shard that every id begins with; empty without one. */
  mark?: string
}

/** A receipt is found by its run: both ids are the same but for the prefix. */
export const receiptIdOf = (runId: string): string => `rcpt_${runId.slice('run_'.length)}`
export const runIdOf = (receiptId: string): string => `run_${receiptId.slice('rcpt_'.length)}`

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const codes = Uint8Array.from(alphabet, (digit) => digit.charCodeAt(0))

/** `mark` is the id of the shard, two characters; empty without one. */
export function makeIds(clock: Pick<Clock, 'now'>, random: Random, mark = ''): Ids {
  const texts = new Map<IdPrefix, IdText>()
  return {
    mark,
    make(prefix) {
      const text = texts.get(prefix) ?? startText(prefix, mark)
      texts.set(prefix, text)
      const at = clock.now()
      const { bytes, entropyAt } = text
      if (at !== text.at) {
        text.at = at
        writeTime(at, bytes, entropyAt - timeChars)
      }
      const entropy = random.bytes(10)
      encodeGroup(entropy, 0, bytes, entropyAt)
      encodeGroup(entropy, 5, bytes, entropyAt + 8)
      return bytes.toString('latin1', 0, text.length)
    },
  }
}

/** The last id of a prefix, whose constant parts are reused. */
type IdText = { bytes: Buffer; entropyAt: number; length: number; at: Millis }

const timeChars = 10
const entropyChars = 16

/** A mark takes the place of the last random characters, which `bytes` still has room for. */
function startText(prefix: IdPrefix, mark: string): IdText {
  const head = `${prefix}_${mark}`
  const entropyAt = head.length + timeChars
  const bytes = Buffer.alloc(entropyAt + entropyChars)
  bytes.write(head, 'latin1')
  return { bytes, entropyAt, length: bytes.length - mark.length, at: -1 }
}

/** Whether `text` is an id of this kind; cheap enough to ask before any database work. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return (
    text.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(text.slice(prefix.length + 1))
  )
}

/** The least id that can be made at `at` or later, on the shard `mark`. */
export const firstIdAt = (prefix: IdPrefix, at: Millis, mark = ''): string => {
  const time = Buffer.alloc(timeChars)
  writeTime(at, time, 0)
  return `${prefix}_${mark}${time.toString('latin1')}`
}

/** 48 bits of milliseconds as ten base32 characters; sorts like the number. */
function writeTime(at: Millis, out: Uint8Array, from: number): void {
  let rest = Math.max(0, Math.floor(at))
  for (let i = from + timeChars - 1; i >= from; i--) {
    out[i] = codes[rest % 32] ?? codes[0] ?? 0
    rest = Math.floor(rest / 32)
  }
}

/** Five bytes of `random` as eight base32 characters: written out, a third of what a loop takes. */
function encodeGroup(random: Uint8Array, from: number, out: Uint8Array, at: number): void {
  const a = random[from] ?? 0
  const b = random[from + 1] ?? 0
  const c = random[from + 2] ?? 0
  const d = random[from + 3] ?? 0
  const e = random[from + 4] ?? 0
  out[at] = digit(a >> 3)
  out[at + 1] = digit((a << 2) | (b >> 6))
  out[at + 2] = digit(b >> 1)
  out[at + 3] = digit((b << 4) | (c >> 4))
  out[at + 4] = digit((c << 1) | (d >> 7))
  out[at + 5] = digit(d >> 2)
  out[at + 6] = digit((d << 3) | (e >> 5))
  out[at + 7] = digit(e)
}

const digit = (bits: number): number => codes[bits & 31] ?? 0
