/** A value to copy. */
import { CopyButton } from './button.tsx'
import type { Child } from './jsx-runtime.ts'

/**
 * A value to take along, in an `output`: a click selects it whole, the button copies it. `strong`
 * is for a secret that is shown once.
 */
export const CopyBox = ({ id, label, value, strong }: CopyBoxProps) => (
  <div class={['secret', strong && 'strong']}>
    <output id={id} aria-label={label}>
      {value}
    </output>
    <CopyButton of={id} />
  </div>
)

type CopyBoxProps = { id: string; label: string; value: string; strong?: boolean }

type CodeProps = { id?: string; label: string; text: Child; wrap?: boolean }

/** A listing to read or copy, its words in `<b>`, its strings and remarks in `<i>`. */
export const Code = ({ id, label, text, wrap }: CodeProps) => (
  <section class={['code', wrap && 'wrap']} tabindex="0" aria-label={label}>
    <pre id={id}>{text}</pre>
  </section>
)
