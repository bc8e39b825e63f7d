/** A number as the format has it, with its labels in the order they were written. */
export type Told = { name: string; labels: Record<string, string>; value: number; text: string }
export type ToldFamily = { type: string; help: string; samples: Told[] }

/**
 * A strict reader of the Prometheus text format 0.0.4: every family has HELP and TYPE before its
 * samples, which stand together; no series comes twice; histograms have rising buckets that end
 * in `+Inf` with the count.
 * @throws Error that names the line.
 */
export function readExposition(text: string): Map<string, ToldFamily> {
  const families = new Map<string, ToldFamily>()
  const seen = new Set<string>()
  let help: { name: string; text: string } | undefined
  let current: [string, ToldFamily] | undefined
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  for (const line of text.slice(0, -1).split('\n')) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`)
    }
    const helps = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line)
    const types = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/.exec(line)
    if (helps) help = { name: helps[1] ?? '', text: helps[2] ?? '' }
    else if (types) {
      const [, name = '', type = ''] = types
      if (help?.name !== name) fail('TYPE without its HELP')
      if (families.has(name)) fail('a family comes twice')
      current = [name, { type, help: help?.text ?? '', samples: [] }]
      families.set(...current)
    } else {
      const sample = readSample(line) ?? fail('not a sample')
      if (!current) return fail('a sample without a family')
      const [name, family] = current
      const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!suffixes.some((suffix) => sample.name === name + suffix)) fail('in the wrong family')
      const id = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(id)) fail('a series comes twice')
      seen.add(id)
      family.samples.push(sample)
    }
  }
  for (const [name, family] of families) {
    if (family.samples.length === 0) throw new Error(`${name} has no sample`)
    if (family.type === 'counter' && !name.endsWith('_total'))
      throw new Error(`${name} does not end in _total`)
    if (family.type === 'histogram') checkBuckets(name, family.samples)
  }
  return families
}

function readSample(line: string): Told | undefined {
  const match =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\+Inf|-Inf|NaN|-?[0-9.]+(?:e[-+]?\d+)?)$/.exec(line)
  if (!match) return undefined
  const [, name = '', inside, text = ''] = match
  const labels: Record<string, string> = {}
  const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y
  if (inside === '') return undefined
  while (inside !== undefined && label.lastIndex < inside.length) {
    const found = label.exec(inside)
    if (!found || (found[1] ?? '') in labels) return undefined
    labels[found[1] ?? ''] = (found[2] ?? '').replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c))
  }
  return { name, labels, value: Number(text.replace('Inf', 'Infinity')), text }
}

function checkBuckets(name: string, samples: Told[]): void {
  const series = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest))
  for (const told of series.values()) {
    const buckets = told.filter((one) => one.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('Inf', 'Infinity')))
    const counts = buckets.map(({ value }) => value)
    const rises = (list: number[]) => list.every((one, i) => i === 0 || one >= (list[i - 1] ?? 0))
    const total = told.find((one) => one.name === `${name}_count`)?.value
    const isWhole = bounds.at(-1) === Infinity && counts.at(-1) === total
    const hasSum = told.some((one) => one.name === `${name}_sum`)
    if (!rises(bounds) || !rises(counts) || !isWhole || !hasSum) {
      throw new Error(`${name} is not a histogram`)
    }
  }
}
