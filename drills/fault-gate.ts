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
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }
  const message = { role: 'assistant', content: 'a word' }
  const last = { index: 0, finish_reason: 'stop' }
  const whole = { object: 'chat.completion', choices: [{ ...last, message }], usage }
  const frames = [
    { object: 'chat.completion.chunk', choices: [{ ...last, delta: message }] },
    { object: 'chat.completion.chunk', choices: [], usage },
  ]
  const stub = await startStubUpstream({
    async handler({ body }, response) {
      if (!isOpen) await opened.promise
      const isStream = body['stream'] === true
      const type = isStream ? 'text/event-stream' : 'application/json'
      const text = isStream
        ? [...frames.map((frame) => JSON.stringify({ id: 'c', ...frame })), '[DONE]']
            .map((data) => `data: ${data}\n\n`)
            .join('')
        : JSON.stringify({ id: 'c', ...whole })
      response.writeHead(200, { 'content-type': type }).end(text)
    },
  })
  return {
    toml: `
[[upstreams]]
id = "gated"
base_url = "${stub.url}"
breaker_failures = 0

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
