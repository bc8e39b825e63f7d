/**
 * An upstream that answers when it is let: what a drill does meanwhile falls between the holds of
 * runs and their ends.
 */
import { startStubUpstream } from '../test/support/stub-upstream.ts'

export type Gate = Awaited<ReturnType<typeof startGate>>

/** The model that {@link startGate} offers. */
export const gatedModel = 'gated/model'

export async function startGate() {
  let isOpen = true
  let opened = Promise.withResolvers<void>()
  const choices = [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'a word' } },
  ]
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
  const body = JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage })
  const stub = await startStubUpstream({
    async handler(_, response) {
      if (!isOpen) await opened.promise
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    },
  })
  return {
    toml: `
[[upstreams]]
id = "gated"
base_url = "${stub.url}"

[[models]]
id = "${gatedModel}"
route = ["gated:model"]
kind = "chat"
context_tokens = 1000
max_output_tokens = 100
input_pusd = 150_000
output_pusd = 600_000
request_nusd = 1000`,
    /** Runs that have their hold and wait for their answer. */
    waiting: (): number => stub.counts.active,
    close(): void {
      isOpen = false
      opened = Promise.withResolvers()
    },
    open(): void {
      isOpen = true
      opened.resolve()
    },
    stop: () => stub.stop(),
  }
}
