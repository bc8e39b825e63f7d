/** A status in a word. */
import type { Child } from './jsx-runtime.ts'

/**
 * The shape of a state: `wait` is an open ring, because nothing is wrong; `going` is live, `off`
 * has ended.
 */
export type Tone = 'ok' | 'warn' | 'bad' | 'wait' | 'going' | 'off'

/** A state: a shape and one or two words. The colour only repeats them. */
export const Badge = ({ tone, children }: { tone?: Tone; children: Child }) => (
  <span class={['st', tone]}>{children}</span>
)

/** The hot dot beside what changes by itself. */
export const Live = ({ children = 'Live' }: { children?: Child }) => (
  <span class="live">{children}</span>
)
