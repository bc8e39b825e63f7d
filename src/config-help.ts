import type { Config, Source } from './config.ts'
import { lists, planLimits } from './config-entries.ts'
import type { Settings } from './config-setting.ts'
import { type Row, rows, valueIn } from './config-table.ts'

/** The settings as the end of `--help`: flag, meaning, default. */
export function helpSettings(): string {
  const width = Math.max(...rows.map((row) => row.flag.length))
  const lines = rows.map((row) => {
    const initial = defaultOf(row)
    return `  ${row.flag.padEnd(width)}  ${row.setting.meaning}${initial ? ` [${initial}]` : ''}`
  })
  return ['Settings (flag, then COUNTERFOIL_… variable, then counterfoil.toml):', ...lines].join(
    '\n',
  )
}

const entryTables: [heading: string, settings: Settings][] = [
  ['[[upstreams]]', lists.upstreams as Settings],
  ['[[models]]', lists.models as Settings],
  ['[[plans]]', lists.plans as Settings],
  ['[plans.limits]', planLimits as Settings],
]

/** Every setting with all there is to know of it, in Markdown: `config --explain` and the docs. */
export function explainSettings(): string {
  const main = [
    '| setting | unit or form | default | environment | flag | meaning |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) =>
      line([
        code(row.path),
        row.setting.reader.unit,
        code(defaultOf(row)),
        code(row.env) + (row.setting.secret ? ' or …`_FILE`' : ''),
        code(row.flag),
        row.setting.meaning,
      ]),
    ),
  ]
  const entries = entryTables.flatMap(([name, settings]) => [
    '',
    `### \`${name}\``,
    '',
    '| name | unit or form | default | meaning |',
    '|---|---|---|---|',
    ...Object.entries(settings).map(([key, { reader, initial, needed, meaning }]) =>
      line([code(key), reader.unit, needed ? 'must be set' : code(initial ?? ''), meaning]),
    ),
  ])
  return [...main, ...entries].join('\n')
}

/** The settings in force, one a line, with where each came from. Secrets are not shown. */
export const showConfig = (config: Config, sources: Record<string, Source>): string =>
  inForce(config, sources)
    .map(({ name, shown, source }) => `${name} = ${shown ?? '(unset)'}  # ${source}`)
    .join('\n')

/** The settings in force as data: each value as the file would have it, null where none is. */
export const configView = (config: Config, sources: Record<string, Source>) =>
  inForce(config, sources).map(({ name, shown, source, hidden }) => {
    const value = shown === null || hidden ? shown : toValue(shown)
    return { name, value, source }
  })

const toValue = (shown: string): unknown => Object.values(Bun.TOML.parse(`value = ${shown}`))[0]

function inForce(config: Config, sources: Record<string, Source>) {
  return rows.map((row) => {
    const { reader, secret } = row.setting
    const value = valueIn(config, row)
    const source = sources[row.path] ?? 'default'
    const hidden = secret && source !== 'default'
    const shown = value === undefined ? null : hidden ? '(secret)' : reader.show(value)
    return { name: row.path, shown, source, hidden }
  })
}

const defaultOf = ({ setting }: Row): string => setting.initial ?? ''

const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

const line = (cells: string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
