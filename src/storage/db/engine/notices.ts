/** Messages between the processes of one database, by LISTEN and NOTIFY. */

/**
 * `ended`: a run waits for its number. `cancel`: stop a run of another process. `key` and `account`
 * with an id: what is cached of it, or of keys below it, may be wrong. `echo` with a node: shows
 * that node that notices arrive. `log`: a node knows of leaves that the log lacks. `slots`: a slot
 * moves.
 */
export type Notice =
  | 'ended'
  | 'cancel'
  | 'log'
  | 'slots'
  | `${'key' | 'account' | 'echo'} ${string}`

/** Delivery is not guaranteed: a listener also polls the tables. */
export type Notices = {
  /** Never fails: the change itself is stored already. */
  tell(notice: Notice): Promise<void>
  /** Listens, across lost connections too; resolves once the server has accepted it. */
  hear(listener: (notice: Notice) => void): Promise<void>
}
