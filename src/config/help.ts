/** Explains the settings, for `--help` and the manual. */

import { dialectFields } from './dialect-entries.ts'
import { lists, modelTables, planLimits } from './entries.ts'
import { evidenceFields } from './evidence-entries.ts'
import { keyFields } from './key-entries.ts'
import { hoursFields, stepFields } from './model-entries.ts'
import { planModelFields } from './plan-entries.ts'
import type { Setting, Settings } from './setting.ts'
import { type Row, rows } from './table.ts'
import type { Reader } from './values.ts'

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

const prefixed = (table: string, settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [`${table}.${name}`, setting]),
  )

const listed = (unit: string, meaning: string): Setting<unknown> => ({
  reader: { ...modelTables.cost.input_pusd.reader, unit } as Reader<unknown>,
  meaning,
})

const costTables: Settings = {
  ...modelTables.cost,
  bands: listed('list of tables', 'Costs of runs with a longer input, as in [[models.bands]].'),
  tiers: listed('list of tables', 'Costs of a tier of service, as in [[models.tiers]].'),
}

const stepLists: Settings = {
  bands: listed('list of tables', 'Its prices for a longer input, as in [[models.bands]].'),
  tiers: listed('list of tables', 'Its prices for a tier of service, as in [[models.tiers]].'),
}

const upstreams = {
  ...lists.upstreams,
  keys: listed('list of keys', 'Several keys in place of api_key_env and api_key_file; see below.'),
} as Settings

const models = {
  ...lists.models,
  route: listed(
    'list of steps',
    'Where it runs, in order: "upstream:model", or a table; see below.',
  ),
} as Settings

const entryTables: [heading: string, settings: Settings][] = [
  ['[[upstreams]]', upstreams],
  ['keys of an upstream', keyFields as Settings],
  ['[upstreams.attest]', evidenceFields as Settings],
  ['[upstreams.dialect]', dialectFields as Settings],
  ['[[models]]', models],
  ['[[models.bands]]', modelTables.bands as Settings],
  ['[[models.tiers]]', modelTables.tiers as Settings],
  ['[[models.hours]]', { ...hoursFields, ...stepLists } as Settings],
  ['a step of route', { ...stepFields, ...stepLists, ...prefixed('cost', costTables) }],
  ['[[plans]]', lists.plans as Settings],
  ['a table in models of a plan', planModelFields as Settings],
  ['[plans.limits]', planLimits as Settings],
  ['[[webhooks]]', lists.webhooks as Settings],
  ['[[witnesses]]', lists.witnesses as Settings],
]

/** Every setting with all there is to know of it, in Markdown: `docs/configuration.md`. */
export function explainSettings(): string {
  const main = [
    '| setting | unit or form | default | environment | flag | meaning | a change takes a |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) =>
      line([
        code(row.path),
        row.setting.reader.unit,
        code(defaultOf(row)),
        code(row.env) + (row.setting.secret ? ' or …`_FILE`' : ''),
        code(row.flag),
        row.setting.meaning,
        row.setting.live ? 'reload' : 'restart',
      ]),
    ),
  ]
  const entries = entryTables.flatMap(([name, settings]) => [
    '',
    name.startsWith('[') ? `### \`${name}\`` : `### ${name[0]?.toUpperCase()}${name.slice(1)}`,
    '',
    '| name | unit or form | default | meaning |',
    '|---|---|---|---|',
    ...Object.entries(settings).map(([key, { reader, initial, needed, meaning }]) =>
      line([code(key), reader.unit, needed ? 'must be set' : code(initial ?? ''), meaning]),
    ),
  ])
  return [...main, ...entries].join('\n')
}

export const defaultOf = ({ setting }: Row): string => setting.initial ?? ''

const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

const line = (cells: string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
