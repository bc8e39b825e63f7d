/** Prints the settings in force and their sources, without secrets. */
import { redact } from '../kernel/redact.ts'
import { type Dialect, wordsOf } from '../models/protocols/dialect.ts'
import type { Config, Source } from './config.ts'
import { lists, modelTables, planLimits } from './entries.ts'
import { evidenceFields } from './evidence-entries.ts'
import { defaultOf } from './help.ts'
import { keyFields } from './key-entries.ts'
import type { Settings } from './setting.ts'
import { type Row, rows, valueIn } from './table.ts'

type Sources = Record<string, Source>

/** The settings in force, one a line, with where each came from. Secrets are not shown. */
export const showConfig = (config: Config, sources: Sources): string =>
  [...inForce(config, sources).map(toLine), ...entriesOf(config)].join('\n')

/** {@link showConfig} with the purpose of each setting and the ways to set it. */
export const explainConfig = (config: Config, sources: Sources): string =>
  [
    ...inForce(config, sources).flatMap((setting) => [
      ...wordsOn(setting.row),
      toLine(setting),
      '',
    ]),
    ...entriesOf(config),
  ].join('\n')

/** The settings in force as data: each value as the file would have it, null where none is. */
export const configView = (config: Config, sources: Sources) => [
  ...inForce(config, sources).map(({ name, shown, source, hidden }) => {
    const value = shown === null || hidden ? shown : toValue(shown)
    return { name, value, source }
  }),
  ...entryLists.map(([name]) => {
    const value = shownEntries(config, name).map((entry) => Object.fromEntries(entry.map(toPair)))
    return { name, value, source: value.length > 0 ? 'file' : 'default' }
  }),
]

type SettingLine = { name: string; shown: string; hidden: boolean }

const toPair = ({ name, shown, hidden }: SettingLine) => [name, hidden ? shown : toValue(shown)]

const toValue = (shown: string): unknown => Object.values(Bun.TOML.parse(`value = ${shown}`))[0]

function inForce(config: Config, sources: Sources) {
  return rows.map((row) => {
    const { reader, secret } = row.setting
    const value = valueIn(config, row)
    const source = sources[row.path] ?? 'default'
    const hidden = secret === true && source !== 'default'
    const shown = value === undefined ? null : hidden ? '(secret)' : reader.show(value)
    return { name: row.path, row, shown, source, hidden }
  })
}

const toLine = ({ name, shown, source }: ReturnType<typeof inForce>[number]): string =>
  `${name} = ${shown ?? '(unset)'}  # ${source}`

function wordsOn(row: Row): string[] {
  const { reader, meaning, secret, live } = row.setting
  const initial = defaultOf(row)
  const form = initial === '' ? reader.unit : `${reader.unit}; ${initial} when absent`
  const change = live ? 'A change takes a reload (SIGHUP).' : 'A change takes a restart.'
  return [
    `# ${meaning}`,
    `# ${form}. ${change}`,
    `# ${row.flag}, ${row.env}${secret ? ' or …_FILE' : ''}`,
  ]
}

const entryLists = [
  ['upstreams', lists.upstreams],
  ['models', lists.models],
  ['plans', lists.plans],
  ['webhooks', lists.webhooks],
  ['witnesses', lists.witnesses],
] as const

/** The lists as the file has them, what was left out with its default. */
function entriesOf(config: Config): string[] {
  return entryLists.flatMap(([list]) =>
    shownEntries(config, list).flatMap((entry) => [
      `[[${list}]]  # file`,
      ...entry.map(({ name, shown }) => `${name} = ${shown}`),
    ]),
  )
}

function shownEntries(config: Config, list: (typeof entryLists)[number][0]): SettingLine[][] {
  return config[list].map((entry) => {
    const {
      api_key: key,
      secret: signs,
      limits,
      attest,
      dialect,
      keys,
      ...rest
    } = entry as Record<string, unknown>
    const { route, bands, tiers } = rest
    return [
      ...shownValues(lists[list] as Settings, rest),
      ...shownTables('route', route, modelTables.step),
      ...shownTables('bands', bands, modelTables.bands),
      ...shownTables('tiers', tiers, modelTables.tiers),
      ...shownTables('keys', keys, keyFields as Settings),
      ...(key === undefined || keys ? [] : [{ name: 'api_key', shown: '(secret)', hidden: true }]),
      ...(signs === undefined ? [] : [{ name: 'secret', shown: '(secret)', hidden: true }]),
      ...shownValues(planLimits as Settings, (limits ?? {}) as Record<string, unknown>).map(
        (limit) => ({ ...limit, name: `limits.${limit.name}` }),
      ),
      ...shownValues(evidenceFields as Settings, (attest ?? {}) as Record<string, unknown>).map(
        (one) => ({ ...one, name: `attest.${one.name}` }),
      ),
      ...(dialect === undefined
        ? []
        : [{ name: 'dialect', shown: wordsOf(dialect as Dialect).join(', '), hidden: false }]),
    ]
  })
}

const shownValues = (settings: Settings, values: Record<string, unknown>): SettingLine[] =>
  Object.entries(settings).flatMap(([name, { reader, secret }]): SettingLine[] => {
    const value = values[name]
    if (secret && value !== undefined) return [{ name, shown: '(secret)', hidden: true }]
    // A URL can hold a key in its query.
    return value === undefined ? [] : [{ name, shown: redact(reader.show(value)), hidden: false }]
  })

/** A list inside of an entry, as TOML writes it in one line. */
function shownTables(name: string, list: unknown, settings: Settings): SettingLine[] {
  if (!Array.isArray(list) || list.length === 0) return []
  const items = list.map((item) => (typeof item === 'string' ? JSON.stringify(item) : inline(item)))
  return [{ name, shown: redact(`[${items.join(', ')}]`), hidden: false }]

  function inline(item: Record<string, unknown>): string {
    const { cost, bands, tiers, ...rest } = item
    const shown = [
      ...shownValues(settings, rest),
      ...shownTables('bands', bands, modelTables.bands),
      ...shownTables('tiers', tiers, modelTables.tiers),
    ].map(({ name: field, shown }) => `${field} = ${shown}`)
    if (!cost) return `{ ${shown.join(', ')} }`
    const [paid] = shownTables('cost', [cost], modelTables.cost)
    return `{ ${[...shown, `cost = ${paid?.shown.slice(1, -1)}`].join(', ')} }`
  }
}
