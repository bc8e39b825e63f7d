/** Other names of models, by which clients with names of their own ask for them. */
import { matchesGlob } from '../kernel/glob.ts'
import { builtinModels } from './builtins.ts'

/** Ids of models by name; a name with `*` stands for any run of characters. */
export type Aliases = { readonly [name: string]: string }

/** Every fault of aliases, in words an operator can act on. */
export function aliasFaults(aliases: Aliases = {}, configured: readonly string[]): string[] {
  const ids = [...builtinModels.map(({ id }) => id), ...configured]
  return Object.entries(aliases).flatMap(([name, id]) => [
    ...(ids.includes(id) ? [] : [`aliases: "${name}" names no model: "${id}"`]),
    ...(ids.includes(name) ? [`aliases: "${name}" is the id of a model itself`] : []),
  ])
}

/** Finds the id of a name: an exact name goes before a glob, a longer glob before a shorter. */
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
