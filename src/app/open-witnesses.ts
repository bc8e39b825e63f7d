/** Makes what asks the witnesses of the configuration. */
import type { Config } from '../config/config.ts'
import { request } from '../models/upstream/http.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import type { Witnesses } from '../proof/log/witnesses.ts'

/** A witness answers in a moment and says little. */
const limits = {
  firstByteMs: 10_000,
  idleMs: 5000,
  totalMs: 15_000,
  answerBytes: 64 * 1024,
  streamBytes: 0,
}

export const witnessesOf = (config: Pick<Config, 'witnesses' | 'witness_policy'>): Witnesses => ({
  list: config.witnesses,
  required: config.witness_policy.required,
  troubles: new Map(),
  async post(url, text, signal) {
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    try {
      const answer = await request({ url, headers, body: text, signal, limits })
      return { status: answer.status, text: await answer.text() }
    } catch (error) {
      if (error instanceof UpstreamFailure) return undefined
      throw error
    }
  },
})
