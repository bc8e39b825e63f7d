/** Panels of a page. */
import type { Right } from '../../kernel/acting.ts'
import type { Child } from './jsx-runtime.ts'

export type PanelProps = {
  /** Of the section; its heading gets `<id>-title`. htmx targets it. */
  id: string
  title: Child
  /** At the right of the title: a state, a link, a filter. */
  aside?: Child
  /** Below the content: a count, the way to more. */
  foot?: Child
  children?: Child
  /** Left out on paper. */
  screenOnly?: boolean
  /** Left out for roles that lack it. */
  needs?: Right
  /** The route that it is for: left out with it. */
  acts?: string
}

/** A sheet with a title. Tables and lists reach its edges; the rest goes into a {@link Pad}. */
export const Panel = ({
  id,
  title,
  aside,
  foot,
  children,
  screenOnly,
  needs,
  acts,
}: PanelProps) => (
  <section
    class={['sheet', screenOnly && 'noprint']}
    id={id}
    aria-labelledby={`${id}-title`}
    data-needs={needs}
    data-acts={acts}
  >
    <header>
      <h2 id={`${id}-title`}>{title}</h2>
      {aside}
    </header>
    {children}
    {foot ? <footer>{foot}</footer> : null}
  </section>
)

export const Pad = ({ children }: { children?: Child }) => <div class="pad stack">{children}</div>

/** The first line of a page: its one h1 and what can be done. */
export const PageHead = ({ title, children }: { title: Child; children?: Child }) => (
  <div class="bar">
    <h1>{title}</h1>
    {children}
  </div>
)

/** Two columns, the second one narrower; one below the other on a phone. */
export const Split = ({ children }: { children: Child }) => <div class="split">{children}</div>

/** Names and values, in pairs. */
export const Facts = ({ of }: { of: readonly (readonly [name: Child, value: Child])[] }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
)

/** Large figures side by side. */
export const Figures = ({ label, of }: FiguresProps) => (
  <section class="sheet stats" aria-label={label}>
    {of.map(([figure, name]) => (
      <div>
        <b>{figure}</b>
        <span>{name}</span>
      </div>
    ))}
  </section>
)

type FiguresProps = { label: string; of: readonly (readonly [figure: Child, name: Child])[] }
