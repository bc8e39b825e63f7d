/** All rates of models as a list that fits any width. */
import { toUsd } from '../../kernel/money.ts'
import { isCall, meterWords } from '../../verify/meter-words.ts'
import { Amount } from '../../web/ui/amount.tsx'
import { Facts, Panel } from '../../web/ui/panel.tsx'
import type { Model } from '../model.ts'
import { perMillion, type RateSection, rateSections, type ShownRate } from './shown-rates.ts'

/** Models with more rates than one for reading, one for writing and one a run, or several lists. */
export const withRates = (models: readonly Model[]): Model[] => models.filter(hasMoreRates)

/** Whether one price of reading, one of writing and one of a run do not tell all of a model. */
export const hasMoreRates = ({ prices, varied, hours }: Model): boolean =>
  prices.card !== undefined || varied !== undefined || hours !== undefined

/** Every rate of such models; nothing where there are none. */
export function RatesPanel({ models }: { models: readonly Model[] }) {
  const rich = withRates(models)
  if (rich.length === 0) return null
  return (
    <Panel
      id="rates"
      title="All rates"
      aside={<small class="quiet">Per million tokens; searches per call.</small>}
      foot={<span>{footWords}</span>}
    >
      <div class="ratelist">
        {rich.map((model) => (
          <section class="stack" aria-labelledby={rateId(model)}>
            <h3 id={rateId(model)}>{model.id}</h3>
            <div class="grid2">
              {rateSections(model).map((section) => (
                <Section of={section} usual={usualWords(model)} />
              ))}
            </div>
          </section>
        ))}
      </div>
    </Panel>
  )
}

/** The place of a model's rates on the page. */
export const rateId = ({ id }: Model): string => `rates-${id.replace(/[^\w-]/g, '-')}`

const footWords =
  'A band applies to the whole run. Where a band and a tier both set a rate, the higher applies. ' +
  'Input without a rate of its own costs the highest input rate; such output counts as output.'

const usualWords = ({ varied, hours }: Model): string =>
  hours ? 'At all other hours' : varied ? 'Usual price' : 'Every run'

const Section = ({ of: { when, rates }, usual }: { of: RateSection; usual: string }) => (
  <div class="stack rates">
    <h4>{when ?? usual}</h4>
    <Facts of={rates.map((rate) => [nameOf(rate), <Rate of={rate} places={placesOf(rates)} />])} />
  </div>
)

const nameOf = ({ meter }: ShownRate): string =>
  isCall(meter) ? `${meterWords(meter)}, each` : meterWords(meter)

type RateProps = { of: ShownRate; places: number }

const Rate = ({ of, places }: RateProps) => <Amount nusd={shownNusd(of)} places={places} />

const shownNusd = ({ meter, pusd }: ShownRate): bigint =>
  isCall(meter) ? pusd / 1000n : perMillion(pusd)

/** So many decimals that the points of all rates stand under each other. */
const placesOf = (rates: readonly ShownRate[]): number =>
  Math.max(...rates.map((rate) => toUsd(shownNusd(rate)).split('.')[1]?.length ?? 0))
