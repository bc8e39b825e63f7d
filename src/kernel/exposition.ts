/** Writes the Prometheus text format. */
export type Sample = {
  /** Appended to the family's name: a histogram's `_bucket`, `_sum` and `_count`. */
  suffix?: string
  labels?: Readonly<Record<string, string>>
  value: number | bigint
}

/** A metric in base units, with which its name ends. */
export type Family = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: readonly Sample[]
}

/** The Prometheus text format 0.0.4, without families that have no sample. */
export function writeExposition(families: readonly Family[]): string {
  const lines: string[] = []
  for (const { name, type, help, samples } of families) {
    if (samples.length === 0) continue
    lines.push(`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`)
    for (const { suffix = '', labels = {}, value } of samples) {
      lines.push(`${name}${suffix}${writeLabels(labels)} ${writeValue(value)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

/** A gauge of one number; without a sample while the value is unknown. */
export const gauge = (
  name: string,
  help: string,
  value: number | bigint | null | undefined,
): Family => ({
  name,
  type: 'gauge',
  help,
  samples: value === null || value === undefined ? [] : [{ value }],
})

/** A gauge with one number per label set. */
export const gauges = (name: string, help: string, samples: readonly Sample[]): Family => ({
  name,
  type: 'gauge',
  help,
  samples,
})

function writeLabels(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`,
  )
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function writeValue(value: number | bigint): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
