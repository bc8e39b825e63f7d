/** What the landing page shows. */
import type { Stats } from '../../explorer/stats.ts'
import type { Newest } from '../newest.ts'

export type LandingView = {
  baseUrl: string
  /** Address of the current signing key. */
  signer: string
  /** A chat model for the examples. */
  model: string
  isSignedIn: boolean
  takesDeposits: boolean
  /** Whether a chain is configured for anchors. */
  isAnchored: boolean
  newest: Newest | undefined
  stats: Stats
}
