/** Signs what an export has: rows, costs, and the SHA-256 of its bytes. */
import type { Deps } from '../../app/deps-port.ts'
import { toHex } from '../../kernel/hex.ts'
import { maxNusd, type Nusd } from '../../kernel/money.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { checkpointOver, type SigningDeps, toCheckpointView } from '../../proof/log/checkpoint.ts'
import type { LogSpan } from '../../proof/log/logs.ts'
import type { CheckpointRow } from '../../storage/db/schema/schema.ts'
import { type ExportManifest, manifestDigest } from '../../verify/manifest.ts'
import type { Checkpoint } from '../../verify/proof.ts'

/** Counts an export while it is written. */
export type ExportTally = {
  /** The next bytes, in order. */
  bytes(text: string): void
  /** The share of a run: its rows and its cost. */
  run(rows: number, cost: Nusd): void
  /** The manifest of what was counted, `asOf` leaves of the log. */
  end(asOf: number): Promise<ExportManifest>
}

/** Finds the head that a manifest names, over so many leaves; null for none. */
type HeadAt = (asOf: number) => Promise<Checkpoint | null>

/** Signs the head of the log where none over all rows is there yet. */
export const exportTally = (deps: SigningDeps): ExportTally =>
  tallyOf(deps.signer, (asOf) => headAt(deps, asOf, (log, last) => checkpointOver(deps, log, last)))

/** The same beside a running server, which alone signs heads: the manifest names none then. */
export const exportTallyBeside = (deps: LogStores & Pick<Deps, 'signer'>): ExportTally =>
  tallyOf(deps.signer, (asOf) => headAt(deps, asOf))

function tallyOf(signer: Deps['signer'], headOf: HeadAt): ExportTally {
  const hash = new Bun.CryptoHasher('sha256')
  let rows = 0
  let sum: Nusd = 0n
  return {
    bytes: (text) => void hash.update(text),
    run(more, cost) {
      rows += more
      sum += cost
    },
    async end(asOf) {
      const facts = {
        rows,
        sum_nusd: sum <= maxNusd ? Number(sum) : String(sum),
        as_of: asOf,
        sha256: hash.digest('hex'),
        checkpoint: await headOf(asOf),
      }
      const signature = toHex(signer.sign(manifestDigest(facts)))
      return { type: 'counterfoil.manifest', ...facts, signature }
    },
  }
}

type LogStores = Pick<Deps, 'logs' | 'checkpoints'>

/**
 * The first checkpoint over so many leaves, so that the same export has the same one for ever; null
 * for no leaves, and where the log may not be signed now.
 */
async function headAt(
  deps: LogStores,
  asOf: number,
  sign?: (log: LogSpan, last: number) => Promise<CheckpointRow>,
): Promise<Checkpoint | null> {
  const log = deps.logs.all.findLast(({ start }) => start < asOf)
  if (!log) return null
  const last = asOf - log.start - 1
  const known = await deps.checkpoints.firstOver(log.origin, last)
  try {
    const row = known ?? (await sign?.(log, last))
    if (!row) return null
    return toCheckpointView((await deps.checkpoints.find(log.origin, row.size)) ?? row)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
