/** A status in a word. */
import type { Child } from './jsx-runtime.ts'

/** `wait` is drawn as an open ring: not there yet, and nothing is wrong. */
export type Tone = 'ok' | 'warn' | 'bad' | 'wait'

/** A state in one or two words. The colour only repeats what the words say. */
export const Badge = ({ tone, children }: { tone?: Tone; children: Child }) => (
  <span class={['tag', tone]}>{children}</span>
)

/** The hot dot beside what changes by itself. */
export const Live = ({ children = 'Live' }: { children?: Child }) => (
  <span class="live">{children}</span>
)
