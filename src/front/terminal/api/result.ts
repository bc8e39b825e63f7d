/** Makes the answer of a terminal command. */
import type { Deps } from '../../../app/deps-port.ts'
import type { JsonObject } from '../../../kernel/json-object.ts'
import { imageTitle, readAnswer, reasoningTitle } from '../../../models/answers/answer-parts.ts'
import { toReceiptLink } from '../../../runs/openai.ts'
import { toRunView } from '../../../runs/run-view.ts'
import type { ReceiptLink } from '../../../runs/shapes.ts'
import { amountText } from '../../../web/ui/amount.tsx'
import type { Allowance } from '../allowance.ts'
import type { SponsoredAnswer } from '../sponsored-run.ts'
import { toLines } from '../text.ts'
import type { CommandResult } from './commands.ts'

/** The answer of `POST /v1/terminal/run`. */
export type TerminalResult = CommandResult & {
  object: 'terminal.result'
  command: string
  receipt?: SharedLink
  allowance: Allowance
}

/** The receipt opens for anyone with its id, without its payer and without any text. */
type SharedLink = ReceiptLink & { visibility: 'unlisted'; page: string }

export const toResult = (
  command: string,
  told: CommandResult,
  allowance: Allowance,
): TerminalResult => ({
  object: 'terminal.result',
  command,
  ...told,
  allowance,
})

/** The result of an `ask`, with the run as `POST /v1/runs` answers it. */
export function toAskResult(
  { settings }: Pick<Deps, 'settings'>,
  done: SponsoredAnswer,
): TerminalResult & { receipt: SharedLink } {
  const link = toReceiptLink(done, settings)
  const page = `${settings.baseUrl}/receipts/${done.receiptId}`
  const receipt = { ...link, visibility: 'unlisted' as const, page }
  const data = { ...toRunView(done.run, done.choices), receipt: link }
  const lines = [...saidLines(done.choices[0]?.message ?? {}), '', receiptLine(done)]
  return { ...toResult('ask', { lines, data }, done.allowance), receipt }
}

/** Most calls and images that are named. */
const maxNamed = 20

/** The text of an answer; what a terminal does not show of it is named, each on its line. */
function saidLines(message: JsonObject): string[] {
  const { text, reasoning, calls, images } = readAnswer(message)
  return [
    ...(reasoning === '' ? [] : [`(${reasoningTitle(reasoning)}, not shown here)`]),
    ...(text === '' ? [] : toLines(text)),
    ...calls
      .slice(0, maxNamed)
      .flatMap(({ name }) =>
        toLines(`(Calls the tool "${name}", which the terminal does not run)`),
      ),
    ...images.slice(0, maxNamed).map((_, at) => `(${imageTitle(at)}, not shown here)`),
  ]
}

const receiptLine = ({ receiptId, run }: SponsoredAnswer): string =>
  `Receipt ${receiptId}, ${amountText(run.cost)} paid by this service. Anyone with its id can ` +
  'open and verify it; your question and the answer are not in it.'
