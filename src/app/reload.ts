/** Reads the configuration again while the server runs. */
import { isDeepStrictEqual } from 'node:util'
import { makePlans } from '../access/plan-config.ts'
import { lossWords } from '../billing/margins/losses.ts'
import type { Config, LoadedConfig } from '../config/config.ts'
import { oddPriceFix, oddPrices } from '../config/odd-prices.ts'
import { rows, valueIn } from '../config/table.ts'
import { makeCatalogue } from '../models/catalogue.ts'
import type { LevelledLog } from './logging.ts'
import type { ReloadResult } from './reload-port.ts'
import type { Service } from './wiring.ts'

/** Returns what is sold below cost, also by the discount of a plan, in sentences. */
export function lossesIn({ models, upstreams, plans, limits }: Config): string[] {
  const upstreamIds = upstreams.map(({ id }) => id)
  return lossWords(makeCatalogue({ models, upstreamIds }).list(), makePlans(plans, limits).list)
}

/** Names each price that looks like a slip of the unit: at that price it is sold all the same. */
export function warnOfPrices(config: Config, log: Pick<LevelledLog, 'warn'>): void {
  for (const price of oddPrices(config)) log.warn('config.odd_price', { price, fix: oddPriceFix })
  for (const loss of lossesIn(config)) log.warn('config.below_cost', { loss })
}

type Needs = {
  service: Pick<Service, 'adopt' | 'catalogue' | 'meters'>
  log: LevelledLog
  /** As it was read at the start. */
  config: Config
  readAgain: () => LoadedConfig
}

/**
 * Reads the configuration again and takes on what a running server can, or refuses all of it and
 * keeps the old one. Calls wait for each other.
 */
export function reloader({ service, log, config, readAgain }: Needs): () => Promise<ReloadResult> {
  let current = config
  let last: Promise<unknown> = Promise.resolve()

  const reload = async (): Promise<ReloadResult> => {
    const loaded = readAgain()
    if ('problems' in loaded) {
      log.warn('config.refused', { problems: loaded.problems })
      service.meters.reloaded('refused')
      return loaded
    }
    const next = withLive(current, loaded.config)
    const changed = differences(current, next)
    const restart = differences(next, loaded.config)
    await service.adopt(next)
    log.setLevel(next.log.level)
    current = next
    const { id, version } = service.catalogue.priceList
    warnOfPrices(next, log)
    service.meters.reloaded('ok')
    log.info('config.reloaded', { changed, needs_restart: restart, prices: `${id}@${version}` })
    return { changed, restart }
  }

  return () => {
    const turn = last.then(reload)
    last = turn.catch((error: unknown) => {
      service.meters.reloaded('failed')
      log.error('config.reload_failed', error)
    })
    return turn
  }
}

const lists = ['upstreams', 'models', 'plans', 'webhooks'] as const

/** A configuration with what another one says on what a running server takes on. */
function withLive(config: Config, next: Config): Config {
  const merged: Record<string, unknown> = { ...config }
  for (const { section, name, setting } of rows) {
    if (!setting.live) continue
    if (section === '') {
      merged[name] = valueIn(next, { section, name })
      continue
    }
    const before = merged[section] as Record<string, unknown>
    merged[section] = { ...before, [name]: valueIn(next, { section, name }) }
  }
  const { upstreams, models, plans, webhooks } = next
  return { ...(merged as Config), upstreams, models, plans, webhooks }
}

/** The names of what differs: `limits.rpm`, `models "acme/small"`. */
function differences(before: Config, after: Config): string[] {
  const settings = rows.filter((row) => {
    return !isDeepStrictEqual(valueIn(before, row), valueIn(after, row))
  })
  const entries = lists.flatMap((list) => {
    const [old, now] = [byId(before[list]), byId(after[list])]
    return [...new Set([...old.keys(), ...now.keys()])]
      .filter((id) => !isDeepStrictEqual(old.get(id), now.get(id)))
      .map((id) => `${list} "${id}"`)
  })
  return [...settings.map(({ path }) => path), ...entries]
}

const byId = (entries: readonly { id: string }[]) => new Map(entries.map((one) => [one.id, one]))
