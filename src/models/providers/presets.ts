/** Every preset of a provider. */
import { hosts } from './hosts.ts'
import { local } from './local.ts'
import type { Provider } from './provider.ts'
import { vendors } from './vendors.ts'

export const providers: readonly Provider[] = [...vendors, ...hosts, ...local]

export const findProvider = (id: string): Provider | undefined =>
  providers.find((provider) => provider.id === id)

/** Ids that resemble one that is unknown: the same beginning, or contained in it. */
export const similarTo = (id: string): string[] =>
  providers
    .map((provider) => provider.id)
    .filter((known) => known.startsWith(id.slice(0, 3)) || id.includes(known))
