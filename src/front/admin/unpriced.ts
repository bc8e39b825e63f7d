/** The operator's figures about usage that model servers report oddly. */
import type { Deps } from '../../app/deps-port.ts'
import { rateFieldOf } from '../../models/rate-fields.ts'
import { samplesOf } from './upstreams.ts'

/** Units of one class, counted by this process since its start. */
export type UnpricedUnits = {
  model: string
  meter: string
  units: number
  /** The setting that gives the class a rate. */
  setting: string
}

export const unpricedUnits = ({ meters }: Pick<Deps, 'meters'>): UnpricedUnits[] =>
  samplesOf(meters.families(), 'counterfoil_unpriced_units_total').map(({ labels, value }) => {
    const { model = '', meter = '' } = labels ?? {}
    return { model, meter, units: Number(value), setting: rateFieldOf(meter) ?? '' }
  })

/** Runs whose reported usage contradicts itself, counted by this process since its start. */
export type Contradictions = { model: string; side: string; runs: number }

export const contradictions = ({ meters }: Pick<Deps, 'meters'>): Contradictions[] =>
  samplesOf(meters.families(), 'counterfoil_usage_contradictions_total').map(
    ({ labels, value }) => {
      const { model = '', side = '' } = labels ?? {}
      return { model, side, runs: Number(value) }
    },
  )
