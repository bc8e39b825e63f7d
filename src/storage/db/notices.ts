/** What processes on one database tell each other between their looks at the tables. */

/**
 * `ended`: a run waits for its number. `cancel`: a run of another process is to be stopped. `key`
 * and `account`, each with an id: what is remembered of it, or of keys below it, may be wrong.
 * `echo`, with a node: only tells that node that notices get through. `log`: a node knows of leaves
 * that the log lacks.
 */
export type Notice = 'ended' | 'cancel' | 'log' | `${'key' | 'account' | 'echo'} ${string}`

/** News without a promise: whoever misses one finds out at its next look at the tables. */
export type Notices = {
  /** Never fails: what it is about is stored already. */
  tell(notice: Notice): Promise<void>
  /** From now on, through lost connections too; settles once the server has heard of it. */
  hear(listener: (notice: Notice) => void): Promise<void>
}
