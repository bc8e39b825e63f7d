/** The view of the landing page. */
import type { Model } from '../../../models/model.ts'
import type { Judgement } from '../../../proof/receipts/judge.ts'
import type { Stats } from '../../explorer/stats.ts'

export type LandingView = {
  baseUrl: string
  /** Address of the current signing key. */
  signer: string
  /** A chat model for the examples. */
  model: string
  /** Models that answer now. */
  models: readonly Model[]
  isSignedIn: boolean
  takesDeposits: boolean
  /** Whether a chain is configured for anchors. */
  isAnchored: boolean
  newest: Judgement | undefined
  stats: Stats
}
