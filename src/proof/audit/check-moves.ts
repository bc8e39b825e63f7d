/** Compares what all shards say of the moves of slots between them. */

/** A move as the status of a shard names it. */
export type ToldMove = {
  id: string
  slots: string
  from: string
  to: string
  state: string
  digest: string | null
}

/** Moves that one shard names; undefined of one that does not answer. */
export type ToldMoves = { shard: string; moves: readonly ToldMove[] | undefined }

export type CheckedMoves = {
  /** Moves that both sides know alike: the digest covers every balance. */
  sound: number
  /** Moves that left and have not arrived yet, or whose other shard did not answer. */
  open: string[]
  wrong: string[]
}

const hasLeft = ({ state }: ToldMove): boolean => state === 'left' || state === 'gone'

/** Every move out must have its move in, of the same rows, and none may come from nowhere. */
export function checkMoves(told: readonly ToldMoves[]): CheckedMoves {
  const checked: CheckedMoves = { sound: 0, open: [], wrong: [] }
  const movesOf = (id: string) => told.find(({ shard }) => shard === id)?.moves
  for (const { shard, moves } of told) {
    for (const move of moves ?? []) {
      const isOut = move.from === shard
      const other = isOut ? move.to : move.from
      const theirs = movesOf(other)
      const same = theirs?.find(({ id }) => id === move.id)
      const name = `${move.id} of the slots ${move.slots}, ${move.from} to ${move.to}`
      if (!theirs) {
        if (hasLeft(move) || move.state === 'here') checked.open.push(`${name}: ${other} is silent`)
      } else if (isOut && hasLeft(move)) {
        const isIn = same?.state === 'here'
        if (isIn && same.digest === move.digest && same.slots === move.slots) checked.sound++
        else if (isIn || move.state === 'gone')
          checked.wrong.push(`${name}: ${other} has other rows`)
        else checked.open.push(`${name}: not there yet; run slot move again`)
      } else if (!isOut && move.state === 'here' && !(same && hasLeft(same))) {
        checked.wrong.push(`${name}: it arrived, but ${other} did not let it go`)
      }
    }
  }
  return checked
}
