/** The `doctor` check of how long model servers may think before they answer. */
import type { Config } from '../config/config.ts'
import { reasoningModelsOf, reasoningMs } from '../models/patience.ts'
import { type Finding, warning } from './finding.ts'

/** Names the servers whose first byte is due before a model that reasons may have it. */
export const lookAtPatience = ({ upstreams, models }: Config): Finding[] =>
  upstreams.flatMap(({ id, timeout_first_byte_ms: ms = reasoningMs }) => {
    const [model] = reasoningModelsOf(id, models)
    if (!model || ms >= reasoningMs) return []
    const words = `${id} has ${ms.toLocaleString('en-US')} ms for the first byte of an answer`
    const fix = `set timeout_first_byte_ms of ${id} to ${reasoningMs}, or leave it out`
    return warning('models', `${words}; ${model.id} reasons, which takes longer.`, fix)
  })
