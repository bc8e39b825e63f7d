/** Notices and errors on a page. */
import { Icon } from './icon.tsx'
import type { Child } from './jsx-runtime.ts'

type NoticeProps = {
  tone: 'ok' | 'warn' | 'bad'
  /** What it is about, in a sentence. */
  title: Child
  children?: Child
  /** One button or link. */
  action?: Child
}

/** Something to know before going on. */
export const Notice = ({ tone, title, children, action }: NoticeProps) => (
  <div class={['note', tone]}>
    <Icon name={tone} />
    <p>
      <strong>{title}</strong> {children}
    </p>
    {action}
  </div>
)

type ErrorNoteProps = {
  /** "The upstream stopped after 212 tokens." */
  what: Child
  /** What it cost: "Nothing was charged." */
  charged?: Child
  /** How to go on: a button or a link. */
  retry?: Child
  requestId?: string
}

/** What went wrong, what it cost and how to try again. Readers hear it at once. */
export const ErrorNote = ({ what, charged, retry, requestId }: ErrorNoteProps) => (
  <div class="note bad" role="alert">
    <Icon name="bad" />
    <p>
      <strong>{what}</strong> {charged}
      {requestId ? (
        <small class="quiet">
          {' '}
          Request <code>{requestId}</code>
        </small>
      ) : null}
    </p>
    {retry}
  </div>
)
