/** Remembers how the models of one server depart from its protocol. */
import type { Clock, Millis } from '../../kernel/clock.ts'
import { type Dialect, withFacts } from '../protocols/dialect.ts'

/** How long what was learned holds: servers learn too. In ms. */
const rememberedMs = 24 * 60 * 60 * 1000

/** The most models of a server whose facts are remembered. */
const mostModels = 1000

type DialectEntry = { facts: Dialect; dialect: Dialect; at: Millis }

/** Facts that a process learned about one model of a server. */
export type LearnedDialect = { model: string; facts: Dialect; at: Millis }

/** The dialects of the models of one server: what the operator declared, and what was learned. */
export class ServerDialects {
  private readonly learned = new Map<string, DialectEntry>()

  constructor(
    private readonly clock: Pick<Clock, 'now'>,
    private readonly declared: Dialect = {},
  ) {}

  /** @param model by its name there */
  of(model: string): Dialect {
    const known = this.learned.size === 0 ? undefined : this.learned.get(model)
    if (!known) return this.declared
    if (this.clock.now() - known.at < rememberedMs) return known.dialect
    this.learned.delete(model)
    return this.declared
  }

  learn(model: string, facts: Dialect): void {
    const all = withFacts(this.learned.get(model)?.facts ?? {}, facts)
    const dialect = withFacts(this.declared, all)
    this.learned.delete(model)
    this.learned.set(model, { facts: all, dialect, at: this.clock.now() })
    const [oldest] = this.learned.keys()
    if (this.learned.size > mostModels && oldest !== undefined) this.learned.delete(oldest)
  }

  list(): LearnedDialect[] {
    return [...this.learned]
      .filter(([model]) => this.of(model) !== this.declared)
      .map(([model, { facts, at }]) => ({ model, facts, at }))
  }
}
