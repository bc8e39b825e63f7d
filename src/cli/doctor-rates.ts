/** The `doctor` checks of rates that models lack, and of usage that is not believed. */
import { classUnits } from '../billing/usage/store/class-lines.ts'
import { countedRuns } from '../billing/usage/store/counted-runs.ts'
import { troubleStore } from '../billing/webhooks/store/troubles.ts'
import type { Config } from '../config/config.ts'
import { systemClock } from '../kernel/clock.ts'
import { rateFieldOf } from '../models/rate-fields.ts'
import type { Db } from '../storage/db/engine/db.ts'
import { openLeaseClock } from '../storage/db/engine/lease-clock.ts'
import { meterInText } from '../verify/meter-words.ts'
import { type Finding, failure, fine, warning } from './finding.ts'

/** How many of the newest runs are looked through: a second or less. */
const runsMax = 10_000

/**
 * Names the classes that recent runs read and that their models have no rate for: these were billed
 * at the dearest rate of reading.
 */
export async function lookAtRates({ models }: Config, db: Db): Promise<Finding[]> {
  const found = await classUnits(db, runsMax)
  const unpriced = found.flatMap(({ model, meter, units }) => {
    const config = models.find(({ id }) => id === model)
    const field = rateFieldOf(meter)
    if (!config || !field || config[field] !== undefined) return []
    const count = units.toLocaleString('en-US')
    const words = `${model} read ${count} tokens of ${meterInText(meter)} without a rate for them.`
    return warning('rates', words, `set ${field} of ${model}; now it is its dearest input rate`)
  })
  if (unpriced.length > 0 || found.length === 0) return unpriced
  return [fine('rates', 'Models have a rate for each class that their latest runs read.')]
}

/** Names the upstreams that running servers find failing, and why, also where no list tells. */
export async function lookAtUpstreams(db: Db): Promise<Finding[]> {
  const leaseClock = await openLeaseClock(db, systemClock)
  const troubles = troubleStore(db, { clock: leaseClock, node: 'command' })
  const found = await troubles.standing(leaseClock.now())
  return found.flatMap(({ name, data }) => {
    if (!name.startsWith('upstream:')) return []
    const id = String(data['upstream'] ?? name.slice('upstream:'.length))
    const key = data['key'] === undefined ? undefined : String(data['key'])
    if (data['reason'] !== 'denied') {
      const words = `A running server leaves the upstream ${id} alone, because it fails.`
      return failure('upstreams', words, 'counterfoil models check; upstream.failed in the log')
    }
    const status = data['status'] ?? 'denied'
    const ours = key === undefined ? 'our key or account' : `our key ${key}`
    const words = `The upstream ${id} does not take ${ours}: it answers ${status}.`
    const fix =
      status === 402
        ? `pay our account at the provider of ${id}`
        : `renew the key of ${id}: its ${key ?? 'api_key_env or api_key_file'}`
    return failure('upstreams', words, fix)
  })
}

/** Names the models whose servers report no usage of whole answers, or a contradicting one. */
export async function lookAtUsage(db: Db): Promise<Finding[]> {
  const found = await countedRuns(db, runsMax)
  return found.map(({ model, counted, all }) => {
    const [some, of] = [counted, all].map((count) => count.toLocaleString('en-US'))
    const words = `${some} of the last ${of} complete runs of ${model} were counted here.`
    const fix =
      'its server reports no usage, or one that contradicts itself: see the page Models, or ' +
      'counterfoil_usage_contradictions_total'
    return warning('usage', words, fix)
  })
}
