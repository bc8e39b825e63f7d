/** How far the newest deposit has come, as steps. */
import type { DepositRow } from '../../../storage/db/schema/schema.ts'
import { type DepositPolicy, softDepth } from '../deposit.ts'

export type StagesView = {
  newest: DepositRow | undefined
  /** The newest block that was seen; null before the first. */
  head: number | null
  policy: Pick<DepositPolicy, 'softLimitNusd'>
}

const stages = ['Waiting for your transfer', 'Seen', 'Confirming', 'Credited', 'Final'] as const

/** The step that is being waited for; nothing for a deposit that goes no further. */
const reached: Partial<Record<DepositRow['status'], number>> = {
  detected: 2,
  confirming: 2,
  credited: 4,
  finalized: 5,
}

export function DepositStages({ view: { newest, head, policy } }: { view: StagesView }) {
  const at = newest ? reached[newest.status] : 0
  if (at === undefined || newest?.reason) return null
  return (
    <ol class="stages bare" aria-label="Your newest deposit">
      {stages.map((name, i) => (
        <li class={i < at ? 'done' : undefined} aria-current={i === at ? 'step' : undefined}>
          {i === 2 && at === 2 && newest ? confirmingWords(newest, head, policy) : name}
          {i < at ? <span class="vh">, done</span> : null}
        </li>
      ))}
    </ol>
  )
}

/** A small deposit waits for a number of blocks; a larger one for its block to be safe. */
function confirmingWords(
  { amount, blockNumber }: DepositRow,
  head: number | null,
  { softLimitNusd }: StagesView['policy'],
): string {
  if (head === null) return 'Confirming'
  if (amount === null || amount > softLimitNusd) return 'Confirming until its block is safe'
  const deep = Math.min(softDepth, Math.max(0, head - blockNumber))
  return `Confirming ${deep} of ${softDepth}`
}
