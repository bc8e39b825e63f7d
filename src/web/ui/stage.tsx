/** How far a receipt has come, in the same words on every page. */
import { levelWords } from '../../verify/verdict-words.ts'
import type { Level } from '../../verify/verify.ts'
import { Badge, type Tone } from './status.tsx'

/** `ok` once the chain has it. */
export const stageTone = (level: Level | null): Tone =>
  level === 'anchored' || level === 'final' ? 'ok' : 'wait'

/** The words of a verdict, as the receipt's own page says them. */
export const StageBadge = ({ stage }: { stage: Level }) => (
  <Badge tone={stageTone(stage)}>{levelWords[stage]}</Badge>
)
