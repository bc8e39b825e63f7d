import { isAddress, toAccountId } from '../access/accounts/account.ts'
import { type Scope, scopes } from '../access/keys/key.ts'
import { type Nusd, parseUsd } from '../kernel/money.ts'
import { type CapWindow, capWindows } from '../ledger/window.ts'
import { Exit, exitCodes } from './context.ts'

/** What people type on the command line, read strictly: a wrong word is a usage error. */

const usage = (message: string): never => {
  throw new Exit(exitCodes.usage, message)
}

export const readAccount = (text: string): string =>
  isAddress(text) ? toAccountId(text) : usage(`"${text}" is no wallet address (0x and 40 digits)`)

/** An address as it was written, with the right checksum if it has one. */
export const readAddress = (text: string): string =>
  isAddress(text) ? text : usage(`"${text}" is no address (0x and 40 digits)`)

/** Decimal USD with up to nine decimals. */
export const readUsd = (text: string): Nusd =>
  parseUsd(text) ?? usage(`"${text}" is no amount; write decimal USD such as 5.00`)

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `90d`, `24h`, `15m`, `30s`, in milliseconds. */
export function readDuration(text: string): number {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(text)
  if (!match) return usage(`"${text}" is no duration; write 90d, 24h, 15m or 30s`)
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
}

export const readWindow = (text: string): CapWindow =>
  capWindows.find((window) => window === text) ??
  usage(`"${text}" is no window; it is one of ${capWindows.join(', ')}`)

export const readScopes = (text: string): Scope[] =>
  text
    .split(',')
    .map(
      (one) =>
        scopes.find((scope) => scope === one.trim()) ??
        usage(`"${one}" is no scope; they are ${scopes.join(', ')}`),
    )

/** One of a few words. */
export const readWord = <const T extends string>(
  what: string,
  text: string,
  words: readonly T[],
): T =>
  words.find((word) => word === text) ??
  usage(`"${text}" is no ${what}; it is one of ${words.join(', ')}`)

/** Some of a few words, with commas between. */
export const readWords = <const T extends string>(
  what: string,
  text: string,
  words: readonly T[],
): T[] => readList(text).map((one) => readWord(what, one, words))

export const readList = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
