/** `models calibrate`: what reported runs say the bytes of a token are. */
import type { Command } from 'commander'
import { openCommandServices } from '../app/open-command-services.ts'
import type { JsonObject } from '../kernel/json-object.ts'
import { makeCatalogue } from '../models/catalogue.ts'
import type { Model } from '../models/model.ts'
import { toOpenAi } from '../runs/api/native.ts'
import { type Calibration, calibrate, type Measurement, measure } from '../runs/calibrate.ts'
import { keptRuns } from '../runs/store/kept-runs.ts'
import { configOf, print, printJson, say, verb } from './context.ts'

export function calibrateCommand(models: Command): void {
  verb(
    models,
    'calibrate',
    'print bytes_per_token and hold_bytes_per_token as kept runs say they are',
  ).action(run)
}

/** Below so many runs the numbers may be chance. */
const runsFew = 100

async function run(options: Record<string, unknown> & { json?: boolean }): Promise<void> {
  const config = configOf(options)
  const upstreamIds = config.upstreams.map(({ id }) => id)
  const catalogue = makeCatalogue({ models: config.models, upstreamIds })
  const office = await openCommandServices(config)
  const found = new Map<string, Measurement[]>()
  let unmeasured = 0
  try {
    for await (const kept of keptRuns(office.db, office.clock.now())) {
      const model = catalogue.get(kept.model)
      const measured = model && measure(model, kept, toBody)
      if (!measured) unmeasured++
      else if (found.get(kept.model)?.push(measured) === undefined)
        found.set(kept.model, [measured])
    }
  } finally {
    await office.close()
  }
  const data = [...found].sort().map(([id, runs]) => ({ id, ...calibrate(runs) }))
  if (options.json) printJson({ object: 'list', data: data.map(asJson), unmeasured })
  else for (const one of data) print(asToml(one))
  tell(data, unmeasured)
}

/** A request as received, of either door. */
export const toBody = (model: Model, input: JsonObject): JsonObject =>
  'params' in input || (model.kind === 'chat' && !('messages' in input))
    ? toOpenAi(model, input as Parameters<typeof toOpenAi>[1])
    : input

type ModelCalibration = Calibration & { id: string }

const asJson = ({
  id,
  runs,
  input,
  output,
  bytesPerToken,
  holdBytesPerToken,
}: ModelCalibration) => ({
  id,
  runs,
  input_bytes_per_token: round(input),
  output_bytes_per_token: output === null ? null : round(output),
  bytes_per_token: bytesPerToken,
  hold_bytes_per_token: holdBytesPerToken,
})

function asToml({
  id,
  runs,
  input,
  output,
  bytesPerToken,
  holdBytesPerToken,
}: ModelCalibration): string {
  const read = `${round(input)} bytes a token read`
  const written = output === null ? '' : `, ${round(output)} written`
  const few = runs < runsFew ? '; too few to rely on' : ''
  return `[[models]]
id = ${JSON.stringify(id)}  # ${runs} ${runs === 1 ? 'run' : 'runs'}: ${read}${written}${few}
bytes_per_token = ${bytesPerToken.toFixed(1)}
hold_bytes_per_token = ${holdBytesPerToken}
`
}

const round = (value: number): number => Math.round(value * 100) / 100

function tell(data: readonly ModelCalibration[], unmeasured: number): void {
  if (data.length === 0) {
    say('Nothing can be measured: it takes runs with reported usage of accounts that keep texts.')
  }
  if (unmeasured > 0) {
    say(`${unmeasured} runs with sound, images, reasoning or of models now gone were left out.`)
  }
}
