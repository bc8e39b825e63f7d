/** `models check`: asks every upstream whether it responds and serves the models routed to it. */
import type { Command } from 'commander'
import { lossesIn } from '../app/reload.ts'
import type { Config } from '../config/config.ts'
import { oddPriceFix, oddPrices } from '../config/odd-prices.ts'
import { toStep } from '../models/model-config.ts'
import { checkUpstream } from '../models/upstream/check.ts'
import { upstreamWords } from '../models/upstream/check-words.ts'
import { Exit, exitCodes, print, printJson, say, verb, wholeConfigOf } from './context.ts'
import { calibrateCommand } from './models-calibrate.ts'
import { importCommand } from './models-import.ts'

export function modelCommands(program: Command): void {
  const models = program.command('models').description('check, import and calibrate models')
  importCommand(models)
  calibrateCommand(models)
  verb(models, 'check', 'ask every upstream which models it has; free of charge').action(check)
}

/** One upstream's answer, and the models routed to it that it does not list. */
export type CheckedUpstream = {
  id: string
  status: Awaited<ReturnType<typeof checkUpstream>>['status']
  missing: string[]
  /** The right base URL, if the configured one is wrong. */
  baseUrl?: string
}

/** Asks all upstreams at once. */
export const checkUpstreams = ({ upstreams, models }: Config): Promise<CheckedUpstream[]> =>
  Promise.all(
    upstreams.map(async (upstream) => {
      const { status, models: known, baseUrl } = await checkUpstream(upstream)
      const routed = models
        .flatMap(({ route = [] }) => route)
        .map(toStep)
        .filter((step) => step.upstream === upstream.id)
        .map((step) => step.model)
      const missing = known ? [...new Set(routed)].filter((name) => !known.includes(name)) : []
      return { id: upstream.id, status, missing, ...(baseUrl && { baseUrl }) }
    }),
  )

export const isThere = ({ status }: CheckedUpstream): boolean =>
  status === 'ok' || status === 'unlisted'

async function check(options: { json?: boolean }): Promise<void> {
  const config = wholeConfigOf(options)
  const losses = lossesIn(config)
  const found = await checkUpstreams(config)
  if (options.json) printJson({ object: 'list', data: found, below_cost: losses })
  else for (const one of found) print(lineOf(one))
  if (found.length === 0)
    say('No upstreams are configured; the built-in models are always available.')
  if (!options.json) for (const loss of losses) say(`Below cost: ${loss}.`)
  for (const price of oddPrices(config)) say(`Is this meant? ${price}; ${oddPriceFix}`)
  const wrong = found.filter((one) => !isThere(one)).length
  if (wrong > 0)
    throw new Exit(exitCodes.failed, `${wrong} of ${found.length} upstreams failed the check.`)
}

function lineOf({ id, status, missing, baseUrl }: CheckedUpstream): string {
  const lacks = missing.length === 0 ? '' : `; does not list ${missing.join(', ')}`
  const instead = baseUrl === undefined ? '' : `; it is at ${baseUrl}`
  return `${id}  ${upstreamWords[status]}${lacks}${instead}`
}
