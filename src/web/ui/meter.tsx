/** How much of a limit is used: a bar that warns from 80 % on, and the same in figures. */
import type { Nusd } from '../../kernel/money.ts'
import { amountText } from './amount.tsx'

export function Meter({ used, limit, of = '' }: { used: Nusd; limit: Nusd; of?: string }) {
  const perMille = limit === 0n ? 1000 : Number((used * 1000n) / limit)
  const words = `${amountText(used)} of ${amountText(limit)}${of ? ` ${of}` : ''}`
  return (
    <div class={['meter', perMille >= 1000 ? 'bad' : perMille >= 800 && 'warn']}>
      <progress max="1000" value={String(Math.min(1000, perMille))} aria-label={words}></progress>
      <small>{words}</small>
    </div>
  )
}
