/** Numbered steps to follow. */
import { Icon } from './icon.tsx'
import type { Child } from './jsx-runtime.ts'

export type Step = { label: Child; done: boolean; action?: Child }

/** What is to be done, in order. */
export const Steps = ({ of }: { of: readonly Step[] }) => (
  <ol class="steps bare">
    {of.map(({ label, done, action }) => (
      <li class={done ? 'done' : undefined}>
        <span>
          {label}
          {done ? <span class="vh">, done</span> : null}
        </span>
        {done ? null : action}
      </li>
    ))}
  </ol>
)

/** A check of a receipt: what was found, in words, and the figures behind it. */
export type Check = { result: 'ok' | 'wait' | 'bad'; label: Child; detail?: Child }

type ChecksProps = {
  /** Where the browser's own checks go. */
  id: string
  of: readonly Check[]
  /** The browser checks too: where scripts run, none of these is ticked before it did. */
  untilHere?: boolean
}

/** Checks in the order they are made. */
export const Checks = ({ id, of, untilHere }: ChecksProps) => (
  <ul class={['checks bare', untilHere && 'untilhere']} id={id} aria-live="polite">
    {of.map(({ result, label, detail }) => (
      <li class={result}>
        <Icon name={result} />
        <strong>{label}</strong>
        {detail ? <small>{detail}</small> : null}
      </li>
    ))}
  </ul>
)
