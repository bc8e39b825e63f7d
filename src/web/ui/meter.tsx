/** How much of a limit is used: a bar that warns from 80 % on, and the same in round figures. */
import type { Nusd } from '../../kernel/money.ts'
import { amountText, shortAmountText } from './amount.tsx'

export function Meter({ used, limit, of = '' }: { used: Nusd; limit: Nusd; of?: string }) {
  const perMille = limit === 0n ? 1000 : Number((used * 1000n) / limit)
  const wordsBy = (text: (nusd: Nusd) => string) =>
    `${text(used)} of ${text(limit)}${of ? ` ${of}` : ''}`
  const words = wordsBy(amountText)
  return (
    <div class={['meter', perMille >= 1000 ? 'bad' : perMille >= 800 && 'warn']}>
      <progress max="1000" value={String(Math.min(1000, perMille))} aria-label={words}></progress>
      <small title={words}>{wordsBy(shortAmountText)}</small>
    </div>
  )
}
