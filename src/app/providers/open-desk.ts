/** Opens what adds providers to the configuration; its parts are loaded at the first use. */
import type { Clock } from '../../kernel/clock.ts'
import type { ProviderDesk } from './desk-port.ts'
import type { DeskPlace } from './write-change.ts'

export const openProviderDesk = (place: DeskPlace, clock: Clock): ProviderDesk => ({
  propose: async (wish) =>
    (await import('./propose-provider.ts')).proposeProvider(place, wish, clock.now()),
  write: async (draft) => (await import('./propose-provider.ts')).writeProvider(place, draft),
})
