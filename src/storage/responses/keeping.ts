/** Decides whether the responses of an account are kept for a next turn, and for how long. */
import type { Deps } from '../../app/deps-port.ts'
import type { Millis } from '../../kernel/clock.ts'

/** How long a response is kept after its last use. */
export const keptMs = ({
  keepResponsesHours,
}: Pick<Deps['settings'], 'keepResponsesHours'>): Millis => keepResponsesHours * 3_600_000

/** False where the operator forbids it, and for an account that asked to keep nothing. */
export const isKeeping = (
  { settings, texts }: Pick<Deps, 'settings' | 'texts'>,
  account: string,
): boolean | Promise<boolean> => settings.keepResponsesHours > 0 && texts.keepsResponses(account)
