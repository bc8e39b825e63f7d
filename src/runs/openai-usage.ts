/** The `usage` of an answer in OpenAI's shape: what was charged, with the details there are. */
import { toJsonInteger } from '../kernel/money.ts'
import type { Usage, UsageClass } from '../models/meter.ts'
import type { FinishedRun } from './settlement.ts'

type Details = { [name: string]: number }

/** OpenAI knows one cache: writing to one of an hour counts as writing. */
const inputDetails: [UsageClass, string][] = [
  ['cache_read', 'cached_tokens'],
  ['cache_write', 'cache_write_tokens'],
  ['cache_write_1h', 'cache_write_tokens'],
  ['audio_input', 'audio_tokens'],
  ['image_input', 'image_tokens'],
]

const outputDetails: [UsageClass, string][] = [
  ['reasoning', 'reasoning_tokens'],
  ['audio_output', 'audio_tokens'],
  ['image_output', 'image_tokens'],
]

export const toChatUsage = (usage: Usage, { run }: Pick<FinishedRun, 'run'>) => ({
  prompt_tokens: usage.inputTokens,
  ...(usage.classes && detailsOf('prompt_tokens_details', inputDetails, usage)),
  completion_tokens: usage.outputTokens,
  ...(usage.classes && detailsOf('completion_tokens_details', outputDetails, usage)),
  total_tokens: usage.inputTokens + usage.outputTokens,
  cost_nusd: toJsonInteger(run.cost),
})

export const toEmbeddingUsage = (usage: Usage, { run }: Pick<FinishedRun, 'run'>) => ({
  prompt_tokens: usage.inputTokens,
  ...(usage.classes && detailsOf('prompt_tokens_details', inputDetails, usage)),
  total_tokens: usage.inputTokens,
  cost_nusd: toJsonInteger(run.cost),
})

/** Units by class, where any are; some clients refuse details without their first member. */
function detailsOf(
  member: string,
  names: readonly [UsageClass, string][],
  { classes = {} }: Usage,
): { [member: string]: Details } {
  let details: Details | undefined
  for (const [meter, name] of names) {
    const units = classes[meter]
    if (!units) continue
    details ??= { [names[0]?.[1] ?? name]: 0 }
    details[name] = (details[name] ?? 0) + units
  }
  return details ? { [member]: details } : {}
}
