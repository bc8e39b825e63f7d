/** The mean times to a first token of an upstream's models, in memory. */

/** The share of the newest time in the mean. */
const newest = 0.1

/** Exponential means in ms, by the server's name of the model. A failure is not a latency. */
export class Latencies {
  private readonly known = new Map<string, { ms: number }>()

  note(model: string, ms: number): void {
    const mean = this.known.get(model)
    if (mean) mean.ms += newest * (ms - mean.ms)
    else this.known.set(model, { ms })
  }

  of(model: string): number | undefined {
    return this.known.get(model)?.ms
  }

  list(): { model: string; ms: number }[] {
    return [...this.known].map(([model, { ms }]) => ({ model, ms }))
  }
}
