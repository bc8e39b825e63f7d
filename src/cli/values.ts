/** Reads command-line values strictly: an invalid one is a usage error (exit 2). */
import { toAccountId } from '../access/accounts/account.ts'
import { type Scope, scopes } from '../access/keys/key.ts'
import type { Decimal } from '../kernel/decimal.ts'
import { type Nusd, parseUsd } from '../kernel/money.ts'
import { type CapWindow, capWindows } from '../ledger/window.ts'
import { readMarkup } from '../models/price-files/price-entry.ts'
import { isAddress } from '../verify/address.ts'
import { Exit, exitCodes } from './context.ts'

const usage = (message: string): never => {
  throw new Exit(exitCodes.usage, message)
}

/** The account of a wallet; a wrong checksum betrays a wrong digit, and so another wallet. */
export const readAccount = (text: string): string => toAccountId(readAddress(text))

/** An address as written; a checksum, if it has one, must be right. */
export const readAddress = (text: string): string =>
  isAddress(text) ? text : usage(wrongAddress(text))

const wrongAddress = (text: string): string =>
  isAddress(text.toLowerCase())
    ? `The checksum of "${text}" does not fit: a digit is wrong. Copy the address again`
    : `"${text}" is not an address (0x and 40 hex digits)`

/** Decimal USD with up to nine decimals. */
export const readUsd = (text: string): Nusd =>
  parseUsd(text) ?? usage(`"${text}" is not an amount; use decimal USD such as 5.00`)

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `90d`, `24h`, `15m`, `30s`, in milliseconds. */
export function readDuration(text: string): number {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(text)
  if (!match) return usage(`"${text}" is not a duration; use 90d, 24h, 15m or 30s`)
  return Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]
}

export const readWindow = (text: string): CapWindow =>
  capWindows.find((window) => window === text) ??
  usage(`"${text}" is not a window; use one of ${capWindows.join(', ')}`)

export const readScopes = (text: string): Scope[] =>
  text
    .split(',')
    .map(
      (one) =>
        scopes.find((scope) => scope === one.trim()) ??
        usage(`"${one}" is not a scope; use any of ${scopes.join(', ')}`),
    )

/** A whole number of at least 1. */
export const readCount = (text: string): number =>
  /^[1-9]\d{0,5}$/.test(text) ? Number(text) : usage(`"${text}" is not a number from 1 on`)

/** One of `words`. */
export const readWord = <const T extends string>(
  what: string,
  text: string,
  words: readonly T[],
): T =>
  words.find((word) => word === text) ??
  usage(`"${text}" is not a ${what}; use one of ${words.join(', ')}`)

/** Some of `words`, separated by commas. */
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

/** A markup such as 8% as the factor of a cost. */
export const readFactor = (text: string): Decimal =>
  readMarkup(text) ?? usage(`"${text}" is not a markup; use a percentage such as 8% or 12.5%`)

/** A number of tokens, at least 1. */
export const readTokens = (text: string): number =>
  /^[1-9]\d{0,8}$/.test(text) ? Number(text) : usage(`"${text}" is not a number of tokens`)
