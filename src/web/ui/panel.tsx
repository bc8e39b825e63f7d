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
  /** The page's own title says it: readers alone hear it again, and no rule is drawn. */
  isUntitled?: boolean | undefined
  /** Left out on paper. */
  screenOnly?: boolean
  /** Left out for roles that lack it. */
  needs?: Right
  /** The route that it is for: left out with it. */
  acts?: string
}

/** A section: a strong rule, its title, and at most one line at the right. */
export const Panel = ({
  id,
  title,
  aside,
  foot,
  children,
  isUntitled,
  screenOnly,
  needs,
  acts,
}: PanelProps) => (
  <section
    class={['sec', isUntitled && 'listed', screenOnly && 'noprint']}
    id={id}
    aria-labelledby={`${id}-title`}
    data-needs={needs}
    data-acts={acts}
  >
    <header>
      <h2 class={isUntitled ? 'vh' : undefined} id={`${id}-title`}>
        {title}
      </h2>
      {aside}
    </header>
    {children}
    {foot ? <footer>{foot}</footer> : null}
  </section>
)

export const Pad = ({ children }: { children?: Child }) => <div class="pad stack">{children}</div>

/** The first line of a page: its one h1 and what can be done; a paragraph goes below. */
export const PageHead = ({ title, children }: { title: Child; children?: Child }) => (
  <header class="head">
    <h1>{title}</h1>
    {children}
  </header>
)

type FigureProps = {
  label: Child
  big: Child
  /** Facts that put the figure in its place, in a line or two. */
  children?: Child
  /** Drawn at the right: a line, a histogram, a rosette. */
  beside?: Child
}

/** The one figure of a page, on a bar from edge to edge. */
export const Figure = ({ label, big, children, beside }: FigureProps) => (
  <section class="fig bleed" aria-label={typeof label === 'string' ? label : undefined}>
    <div class="say">
      <span class="label">{label}</span>
      <span class="big">{big}</span>
      {children}
    </div>
    {beside}
  </section>
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

/** Figures in columns that hairlines part. */
export const Figures = ({ label, of }: FiguresProps) => (
  <section class="split2" aria-label={label}>
    {of.map(([figure, name]) => (
      <div>
        <b>{figure}</b>
        <span>{name}</span>
      </div>
    ))}
  </section>
)

type FiguresProps = { label: string; of: readonly (readonly [figure: Child, name: Child])[] }
