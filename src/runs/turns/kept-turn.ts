/** Keeps an answer for its next turn, and says whether it was kept. */
import type { Caller } from '../../access/keys/key.ts'
import type { Deps } from '../../app/deps-port.ts'
import type { Json } from '../../kernel/canonical.ts'
import { isSet, type JsonObject } from '../../kernel/json-object.ts'
import type { Model } from '../../models/model.ts'
import { sealedReasoning } from '../../models/protocols/responses/unstored.ts'
import type { KeptItemRow } from '../../storage/db/schema/schema.ts'
import { keptMs } from '../../storage/responses/keeping.ts'
import { sealTurn } from '../../storage/responses/kept.ts'
import type { ExpandedRequest } from './expand-items.ts'

type TurnDeps = Pick<Deps, 'sealer' | 'settings' | 'clock'>

/** One turn. It is sealed once, before the command that ends its run. */
export class KeptTurn {
  private sealed: readonly KeptItemRow[] | undefined

  constructor(
    private readonly deps: TurnDeps,
    private readonly of: { caller: Caller; runId: string; asked: ExpandedRequest },
  ) {}

  /** Whether the answer is kept under this id. */
  take(id: string, output: readonly Json[]): boolean {
    this.sealed ??= this.seal(id, output)
    return this.sealed.length > 0
  }

  /** The rows that the command stores; none before {@link take}. */
  get rows(): readonly KeptItemRow[] {
    return this.sealed ?? []
  }

  private seal(id: string, output: readonly Json[]): KeptItemRow[] {
    const { sealer, settings, clock } = this.deps
    const { caller, runId, asked } = this.of
    const owner = {
      accountId: caller.account,
      runId,
      keys: caller.key.lineage,
      until: clock.now() + keptMs(settings),
    }
    return sealTurn(sealer, owner, { id, output, before: asked.before, input: asked.input })
  }
}

/**
 * Asks a server that stores nothing for the sealed form of its reasoning, without which a next turn
 * could not name it. Only where the model reasons: others refuse to be asked.
 */
export function withSealedReasoning(
  { features }: Pick<Model, 'features'>,
  body: JsonObject,
): JsonObject {
  const isReasoning = features.includes('reasoning') || isSet(body['reasoning'])
  const { include = [] } = body
  if (!isReasoning || !Array.isArray(include) || include.includes(sealedReasoning)) return body
  return { ...body, include: [...include, sealedReasoning] }
}
