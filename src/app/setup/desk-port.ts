/** Writes the first operator of a service into its configuration; types alone. */
import type { ReloadResult } from '../reload-port.ts'

export type SetupPlace = {
  /** The file that is to be changed. */
  path: string
  /** Whether this server can write it. */
  isWritable: boolean
  /** The line that names the operator there. */
  line: string
  /** Does the same on another node, or where this server may not. */
  command: string
  /** Whether other nodes have configurations of their own. */
  hasOthers: boolean
}

/** The link that a claim uses up. */
export type ClaimedLink = {
  /** False if it was used up meanwhile. */
  take(): Promise<boolean>
  /** Makes it good again, because nothing came of the claim. */
  giveBack(): Promise<void>
}

export type SetupDesk = {
  look(account: string): SetupPlace
  /**
   * Makes a wallet the operator, and reads the configuration again. The link is taken once nothing
   * else stands in the way.
   * @throws Refusal 'conflict' where there is an operator, the link is used up, or the file cannot
   * be changed; the file is as before then
   */
  claim(account: string, link: ClaimedLink): Promise<ReloadResult>
}
