/** How far a receipt has come, in the same words on every page. */
import { levelWords } from '../../verify/verdict-words.ts'
import type { Level } from '../../verify/verify.ts'
import type { Child } from './jsx-runtime.ts'
import { Badge, type Tone } from './status.tsx'

/** `ok` once the chain has it. */
export const stageTone = (level: Level | null): Tone =>
  level === 'anchored' || level === 'final' ? 'ok' : 'wait'

/** The words of a verdict, as the receipt's own page says them. */
export const StageBadge = ({ stage }: { stage: Level }) => (
  <Badge tone={stageTone(stage)}>{wordsOf(levelWords[stage])}</Badge>
)

/** In a row the beginning "Signed and" is left out to the eye. */
function wordsOf(words: string): Child {
  const [, first, rest] = /^(Signed and )(.+)$/.exec(words) ?? []
  if (first === undefined) return words
  return (
    <>
      <span class="longer">{first}</span>
      <span>{rest}</span>
    </>
  )
}
