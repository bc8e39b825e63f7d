/** Other names of models, by which clients with names of their own ask for them. */
import { matchesGlob } from '../kernel/glob.ts'

/** Ids of models by name; a name with `*` stands for any run of characters. */
export type Aliases = { readonly [name: string]: string }

/** What is wrong with aliases, in words an operator can act on. */
export const aliasFaults = (aliases: Aliases, ids: readonly string[]): string[] =>
  Object.entries(aliases).flatMap(([name, id]) => [
    ...(ids.includes(id) ? [] : [`"${name}" names no model: "${id}"`]),
    ...(ids.includes(name) ? [`"${name}" is the id of a model itself`] : []),
  ])

/** Finds the id that a name stands for: an exact name goes before a glob, a longer one before a shorter. */
export function aliasFinder(aliases: Aliases): (name: string) => string | undefined {
  const exact = new Map(Object.entries(aliases).filter(([name]) => !name.includes('*')))
  const globs = Object.entries(aliases)
    .filter(([name]) => name.includes('*'))
    .toSorted(([a], [b]) => b.length - a.length)
  return (name) => exact.get(name) ?? globs.find(([glob]) => matchesGlob(glob, name))?.[1]
}

/** The names of each model that clients can be shown, in the order of the configuration. */
export function namesOf(aliases: Aliases, id: string): string[] {
  return Object.keys(aliases).filter((name) => aliases[name] === id)
}
