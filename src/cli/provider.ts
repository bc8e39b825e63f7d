/** `provider list|add|test|refresh`: model servers by the names of their companies. */
import type { Command } from 'commander'
import type { Config } from '../config/config.ts'
import { toStep } from '../models/model-config.ts'
import { providers } from '../models/providers/presets.ts'
import { type PaidCheck, tryModel } from '../models/upstream/ask-provider.ts'
import { upstreamWords } from '../models/upstream/check-words.ts'
import { Exit, exitCodes, print, printJson, say, wholeConfigOf, withSettings } from './context.ts'
import { type CheckedUpstream, checkUpstreams, isThere } from './models.ts'
import { addCommand } from './provider-add.ts'
import { refreshCommand } from './provider-refresh.ts'

export function providerCommands(program: Command): void {
  const provider = program.command('provider').description('add and refresh providers of models')
  provider
    .command('list')
    .description('list the providers that have a preset')
    .option('--json', 'print JSON')
    .action(list)
  addCommand(provider)
  withSettings(provider.command('test'))
    .description('ask configured providers whether they take our key; free without --spend')
    .argument('[id]', 'one upstream of the configuration')
    .option('--spend', 'also ask one model of each for one token, which it bills')
    .option('--json', 'print JSON')
    .action(test)
  refreshCommand(provider)
}

function list({ json: isJson }: { json?: boolean }): void {
  if (isJson) {
    const data = providers.map(({ id, name, kind = 'openai', baseUrl, keyEnv = [], ...rest }) => ({
      ...{ id, name, kind, base_url: baseUrl, key_env: keyEnv },
      keys_page: rest.keysPage ?? null,
      has_prices: rest.prices !== undefined || rest.listPrices !== undefined || !!rest.isLocal,
    }))
    printJson({ object: 'list', data })
    return
  }
  const width = Math.max(...providers.map(({ id }) => id.length)) + 2
  for (const { id, name, keyEnv, isLocal } of providers) {
    print(`${id.padEnd(width)}${name}${isLocal ? '' : `  (${keyEnv?.[0]})`}`)
  }
  say('Next: counterfoil provider add <id>')
}

type TestOptions = Record<string, unknown> & { spend?: boolean; json?: boolean }
type Tested = CheckedUpstream & { spent?: { model: string; result: PaidCheck } }

async function test(id: string | undefined, options: TestOptions): Promise<void> {
  const config = wholeConfigOf(options)
  const upstreams = config.upstreams.filter((one) => id === undefined || one.id === id)
  if (upstreams.length === 0) {
    const known = config.upstreams.map((one) => one.id).join(', ') || 'none'
    const what = id === undefined ? 'No upstream is configured' : `No upstream has the id "${id}"`
    throw new Exit(exitCodes.usage, `${what}. There are: ${known}.`)
  }
  const checked = await checkUpstreams({ ...config, upstreams })
  const found = options.spend
    ? await Promise.all(checked.map((one) => spendOn(config, one)))
    : checked
  if (options.json) printJson({ object: 'list', data: found })
  else for (const one of found) print(lineOf(one))
  const wrong = found.filter((one) => !isFine(one)).length
  if (wrong > 0) {
    throw new Exit(exitCodes.failed, `${wrong} of ${found.length} upstreams failed the test.`)
  }
}

const isFine = (one: Tested): boolean => isThere(one) && (one.spent?.result.isFine ?? true)

/** Asks the first model that is routed to an upstream for one token. */
async function spendOn({ upstreams, models }: Config, one: CheckedUpstream): Promise<Tested> {
  const upstream = upstreams.find(({ id }) => id === one.id)
  const step = models
    .filter(({ kind }) => kind === 'chat')
    .flatMap(({ route = [] }) => route.map(toStep))
    .find((routed) => routed.upstream === one.id)
  if (!upstream || !step || !isThere(one)) return one
  return { ...one, spent: { model: step.model, result: await tryModel(upstream, step.model) } }
}

function lineOf({ id, status, missing, spent }: Tested): string {
  const lacks = missing.length === 0 ? '' : `; does not list ${missing.join(', ')}`
  const paid = spent ? `; ${spent.model} ${spent.result.words}` : ''
  return `${id}  ${upstreamWords[status]}${lacks}${paid}`
}
