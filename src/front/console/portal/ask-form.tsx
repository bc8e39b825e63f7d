/** The form of the console: the model, the message, its files, and the money it may take. */
import type { ShownKey } from '../../../access/keys/shown-key.ts'
import { type Nusd, toUsd } from '../../../kernel/money.ts'
import type { Model } from '../../../models/model.ts'
import { priceText } from '../../../models/pages/shown-rates.ts'
import { dearestPrices } from '../../../models/step-prices.ts'
import { shortAmountText } from '../../../web/ui/amount.tsx'
import { AreaField, TextField } from '../../../web/ui/form.tsx'
import { Icon } from '../../../web/ui/icon.tsx'
import { defaultCap } from '../console-key.ts'
import { roomIn, takenText } from '../files.ts'
import { recentTurns } from '../talk.ts'
import { fileTokensOf, writeTariff } from '../tariff.ts'
import { Attach, AttachButton } from './attach.tsx'
import type { ConsoleView } from './console-view.ts'

type AskFormProps = { view: ConsoleView; model: Model | undefined; most: Nusd | undefined }

export const AskForm = ({ view, model, most }: AskFormProps) => {
  const { draft, models, bodyBytes } = view
  const files = { models, model, files: draft.files, room: roomIn(bodyBytes) }
  return (
    <form
      class="composer"
      id="ask"
      method="post"
      action="/api/portal/console/run"
      enctype="multipart/form-data"
      data-base={view.baseUrl}
    >
      <input
        type="hidden"
        name="turns"
        value={JSON.stringify(recentTurns(draft.turns, roomIn(bodyBytes)))}
      />
      <input type="hidden" name="once" value={view.once} />
      <div class="how">
        <ModelField models={models} value={model?.id} />
        <Parameters view={view} />
      </div>
      <Attach {...files} />
      <div class="ask">
        <AttachButton {...files} />
        <AreaField
          name="input"
          label={<span class="vh">Message</span>}
          placeholder="Message, or /help"
          value={draft.input}
          rows={2}
          required
        />
        <button class="btn scripted" id="stop" type="button" disabled>
          Stop
        </button>
        <button class="btn go" type="submit" aria-label="Send">
          <Icon name="send" />
        </button>
      </div>
      <small class="quiet">
        At most <code id="most">${toUsd(most ?? 0n)}</code> will be held;{' '}
        <CapLeft shown={view.key} />
      </small>
    </form>
  )
}

/** The amount that is left of the cap. A fragment that changes it brings this line along. */
export function CapLeft({ shown, isFragment }: { shown: ShownKey | undefined; isFragment?: true }) {
  const limit = shown?.key.capLimit ?? defaultCap
  const used = (shown?.window?.spent ?? 0n) + (shown?.window?.held ?? 0n)
  const left = limit > used ? limit - used : 0n
  return (
    <span id="cap-left" hx-swap-oob={isFragment && 'true'}>
      {shortAmountText(left)} left of the cap of {shown?.key.name ?? 'this console'}.
    </span>
  )
}

const ModelField = ({ models, value }: { models: readonly Model[]; value: string | undefined }) => (
  <div class="field">
    <label class="vh" for="model">
      Model
    </label>
    <select class="in" id="model" name="model" required>
      {models.map((model) => (
        <option
          value={model.id}
          selected={model.id === value}
          data-most={String(model.maxOutputTokens)}
          data-output={String(dearestPrices(model).outputPusd)}
          data-name={model.name}
          data-tariff={writeTariff(model)}
        >
          {[model.name, priceText(model, 'per 1M'), takenText(fileTokensOf(model))]
            .filter(Boolean)
            .join(', ')}
        </option>
      ))}
    </select>
  </div>
)

const Parameters = ({ view: { draft } }: { view: ConsoleView }) => (
  <details>
    <summary>Parameters</summary>
    <div class="stack">
      <div class="grid2">
        <TextField
          name="max_output_tokens"
          label="Max output tokens"
          type="number"
          inputmode="numeric"
          placeholder="1024, or the model’s limit"
          value={draft.max_output_tokens}
        />
        <TextField
          name="temperature"
          label="Temperature"
          inputmode="decimal"
          placeholder="Model default"
          value={draft.temperature}
        />
      </div>
      <AreaField name="system" label="System prompt" rows={2} value={draft.system} />
    </div>
  </details>
)
