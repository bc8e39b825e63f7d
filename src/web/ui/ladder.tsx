/** The steps of a Merkle path. */
import { Hash } from './hash.tsx'

/** One step up: what was reached, and what is hashed with it; `side` is where that one stands. */
export type Rung = { hash: string; sibling: string; side: 'left' | 'right' }

type LadderProps = {
  /** From the leaf upward. */
  rungs: readonly Rung[]
  root: string
  /** What holds the root: "= on chain", "= in checkpoint 512". */
  rootIs: string
}

/** The path from a leaf to the root of the tree, one hash a line. */
export const Ladder = ({ rungs, root, rootIs }: LadderProps) => (
  <ol class="ladder bare">
    {rungs.map(({ hash, sibling, side }, i) => (
      <li>
        <span class="quiet">{i === 0 ? 'leaf' : `step ${i}`}</span>
        <span class="me">
          <Hash value={hash} />
        </span>
        <Sibling hash={sibling} side={side} />
      </li>
    ))}
    <li>
      <span class="quiet">root</span>
      <span class="me">
        <Hash value={root} />
      </span>
      <span class="sib">{rootIs}</span>
    </li>
  </ol>
)

/** The order in which the two are hashed: `0x… +` comes before, `+ 0x…` after. */
const Sibling = ({ hash, side }: { hash: string; side: Rung['side'] }) =>
  side === 'left' ? (
    <span class="sib">
      <span class="vh">after </span>
      <Hash value={hash} /> +
    </span>
  ) : (
    <span class="sib">
      <span class="vh">before </span>+ <Hash value={hash} />
    </span>
  )
