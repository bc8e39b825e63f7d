/** A setting: its reader, default, help, and the errors of wrong values. */
import { nearest } from '../kernel/nearest.ts'
import { namesOf, rawIn } from './money-values.ts'
import type { Reader } from './values.ts'

export type Setting<T> = {
  reader: Reader<T>
  /** The default, written like a flag. */
  initial?: string
  /** Without it the configuration is wrong. */
  needed?: true
  meaning: string
  /** Can also be given as a file named by `COUNTERFOIL_…_FILE`; is never printed. */
  secret?: true
  /** A running server takes it on when it reads its configuration again. */
  live?: true
}

export type Settings = Record<string, Setting<unknown>>

/** The settings as read, by their names in the file. */
export type ValuesOf<S> = { -readonly [Name in keyof S]: ValueOf<S[Name]> }

type ValueOf<S> = S extends { reader: Reader<infer T> }
  ? S extends { initial: string } | { needed: true }
    ? T
    : T | undefined
  : never

/** A setting with a default. */
export const set = <T>(reader: Reader<T>, initial: string, meaning: string) => ({
  reader,
  initial,
  meaning,
})

/** A setting that may be left out and is then undefined. */
export const optional = <T>(reader: Reader<T>, meaning: string) => ({ reader, meaning })

/** A setting that must be there. */
export const needed = <T>(reader: Reader<T>, meaning: string) => ({
  reader,
  meaning,
  needed: true as const,
})

export const secret = <S>(setting: S) => ({ ...setting, secret: true as const })

export const live = <S>(setting: S) => ({ ...setting, live: true as const })

export const isTable = (raw: unknown): raw is Record<string, unknown> =>
  Object.prototype.toString.call(raw) === '[object Object]'

/** Reads one table of the file; what is wrong with it goes to `problems`, prefixed with `where`. */
export function readTable<S>(settings: S, raw: unknown, where: string, problems: string[]) {
  if (!isTable(raw)) {
    problems.push(`${where} must be a table`)
    return undefined
  }
  const before = problems.length
  const known = Object.entries(settings as Settings)
  const names = known.flatMap(([name]) => namesOf(name))
  for (const name of Object.keys(raw)) {
    if (names.includes(name)) continue
    problems.push(unknownKey(`${where}.${name}`, name, names))
  }
  const values = known.map(([name, setting]) => {
    const { raw: value, label } = rawIn(raw, name, `${where}.`, problems)
    return [name, readValue(setting, value, label, problems)]
  })
  return problems.length === before ? (Object.fromEntries(values) as ValuesOf<S>) : undefined
}

/** One value as the file would give it, or its default. */
export function readValue(
  setting: Setting<unknown>,
  raw: unknown,
  name: string,
  problems: string[],
) {
  if (raw === undefined && setting.initial === undefined) {
    if (setting.needed) problems.push(`${name} is missing`)
    return undefined
  }
  const checked = setting.reader.check(raw ?? setting.reader.fromText(setting.initial ?? ''))
  if ('value' in checked) return checked.value
  problems.push(`${name} must be ${checked.must}`)
  return undefined
}

export function unknownKey(full: string, name: string, candidates: readonly string[]): string {
  const guess = nearest(name, candidates)
  return `unknown key ${full}${guess === undefined ? '' : `; did you mean ${guess}?`}`
}
