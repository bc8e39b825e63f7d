/** `margins`: revenue, cost and margin by model, account or day; also beside a running server. */
import type { Command } from 'commander'
import { openCommandServices } from '../app/open-command-services.ts'
import { lossesIn } from '../app/reload.ts'
import { type MarginGroup, type MarginSums, marginGroups } from '../billing/margins/margin.ts'
import {
  type Margins,
  marginOf,
  marginPercent,
  marginsOf,
  readMarginDays,
} from '../billing/margins/margins.ts'
import { nameText, toMarginsCsv, toMarginsView } from '../billing/margins/margins-view.ts'
import { marginStore } from '../billing/margins/store.ts'
import { toDate } from '../billing/usage/usage-view.ts'
import { toUsd } from '../kernel/money.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'
import { writeOut } from './output.ts'
import { readWord } from './values.ts'

export function marginCommand(program: Command): void {
  verb(program, 'margins', 'show revenue, cost and margin of runs whose cost is known')
    .option('--from <date>', 'first day (UTC); default: 29 days ago')
    .option('--to <date>', 'last day (UTC); default: today')
    .option('--by <group>', marginGroups.join(', '), readGroup, 'model')
    .option('--csv', 'print CSV')
    .action(show)
}

type Options = Record<string, unknown> & {
  from?: string
  to?: string
  by: MarginGroup
  csv?: boolean
  json?: boolean
}

const readGroup = (text: string): MarginGroup => readWord('group', text, marginGroups)

async function show(options: Options): Promise<void> {
  if (options.csv && options.json) throw new Exit(exitCodes.usage, 'Ask for --csv or for --json.')
  const config = configOf(options)
  await using office = await openCommandServices(config)
  const days = readMarginDays(options, office.clock.now())
  const margins = marginStore(office.db)
  const found = await marginsOf({ margins }, { ...days, by: options.by })
  if (options.json) printJson(toMarginsView(found))
  else if (options.csv) await writeOut(toMarginsCsv(found))
  else showTable(found)
  if (found.uncounted > 0) {
    say(`${found.uncounted} newer leaves of the log are not counted yet; a server counts them.`)
  }
  if (!options.json && !options.csv) for (const loss of lossesIn(config)) say(`${loss}.`)
}

function showTable({ from, to, by, rows, totals }: Margins): void {
  const lines = [
    [by, 'runs', 'revenue', 'cost', 'margin', 'of revenue'],
    ...rows.map(({ name, ...sums }) => [nameText(by, name), ...cellsOf(sums)]),
    ['total', ...cellsOf(totals)],
  ]
  const widths = lines[0]?.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  for (const line of lines) {
    const cells = line.map((cell, i) =>
      i === 0 ? cell.padEnd(widths?.[i] ?? 0) : cell.padStart(widths?.[i] ?? 0),
    )
    print(cells.join('  '))
  }
  say(`${toDate(from)} to ${toDate(to - 1)} (UTC), in USD. Only runs with a known cost.`)
}

function cellsOf(sums: MarginSums): string[] {
  const percent = marginPercent(sums)
  const margin = marginOf(sums)
  return [
    String(sums.runs),
    toUsd(sums.revenue),
    toUsd(sums.cost),
    toUsd(margin),
    percent === null ? '' : `${percent} %${margin < 0n ? ' loss' : ''}`,
  ]
}
