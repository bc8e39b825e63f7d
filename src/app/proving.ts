/** Makes what proves: the keys of receipts and notes, the witnesses, and what they sign. */
import type { Config } from '../config/config.ts'
import { liabilityStore } from '../proof/liabilities/store.ts'
import { cosignatureStore } from '../proof/log/store/cosignatures.ts'
import type { LogStore } from '../proof/log/store.ts'
import { logNoteSigner } from '../proof/signer/ed25519.ts'
import type { Signer } from '../proof/signer/signer.ts'
import { upstreamEvidenceStore } from '../proof/upstream-evidence/store.ts'
import type { Db } from '../storage/db/engine/db.ts'
import type { LeaseTime } from '../storage/db/engine/lease.ts'
import { witnessesOf } from './open-witnesses.ts'

/** The signers of this process, and the stores of statements and cosignatures. */
export const provingOf = (
  { config, signer }: { config: Config; signer: Signer },
  db: Db,
  log: LogStore,
  time: { clock: LeaseTime; node: string },
) => ({
  signer,
  noteSigner: logNoteSigner(signer),
  witnesses: witnessesOf(config),
  cosignatures: cosignatureStore(db, time),
  liabilities: liabilityStore(db, log, time),
  upstreamEvidence: upstreamEvidenceStore(db, log, time),
})
