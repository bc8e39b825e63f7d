/** Tells which head each witness signed last, for the status. */
import type { Deps } from '../../app/deps-port.ts'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { CosignatureRow } from '../../storage/db/schema/schema.ts'
import { vkeyOf } from '../../verify/signed-note.ts'
import { type Witnesses, witnessIdOf } from './witnesses.ts'

/** The newest signature of a witness on the current log; undefined before the first. */
export type NewestSigned = CosignatureRow | undefined

/** In the order of the configuration. */
export const readNewestSigned = ({
  witnesses,
  cosignatures,
  logs,
}: Pick<Deps, 'witnesses' | 'cosignatures' | 'logs'>): Promise<NewestSigned[]> =>
  Promise.all(
    witnesses.list.map(({ noteKey }) =>
      cosignatures.newestOf(logs.current.origin, witnessIdOf(noteKey)),
    ),
  )

export const witnessStatus = (
  { list, required, troubles }: Witnesses,
  signed: readonly NewestSigned[],
) => ({
  required,
  data: list.map(({ name, noteKey }, i) => {
    const newest = signed[i]
    const trouble = troubles.get(witnessIdOf(noteKey))
    return {
      name,
      key: vkeyOf(noteKey),
      size: newest?.size ?? null,
      seen_at: newest ? toRfc3339(newest.time) : null,
      ...(trouble && { trouble }),
    }
  }),
})
