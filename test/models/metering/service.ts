import type { JsonObject } from '../../../src/kernel/json-object.ts'
import { upstreamToml } from '../../support/runs.ts'
import type { StubCall } from '../../support/stub-upstream.ts'

/** A model with a rate for every meter, bands and tiers, and one with two rates. */
export const meteredToml = (url: string): string => `${upstreamToml('stub', url)}
[[models]]
id = "acme/large"
name = "Large"
route = ["stub:large"]
kind = "chat"
context_tokens = 1_000_000
max_output_tokens = 64_000
input_pusd = 3_000_000
cache_read_pusd = 300_000
cache_write_pusd = 3_750_000
cache_write_1h_pusd = 6_000_000
audio_input_pusd = 10_000_000
image_input_pusd = 3_500_000
output_pusd = 15_000_000
reasoning_pusd = 12_000_000
audio_output_pusd = 40_000_000
image_output_pusd = 60_000_000
web_search_nusd = 10_000_000
request_nusd = 100_000
features = ["streaming", "tools"]

[[models.bands]]
above_input_tokens = 200_000
input_pusd = 6_000_000
output_pusd = 22_500_000

[[models.tiers]]
name = "priority"
input_pusd = 6_000_000
output_pusd = 30_000_000

[[models.tiers]]
name = "flex"
input_pusd = 1_500_000
output_pusd = 7_500_000

[[models]]
id = "acme/small"
name = "Small"
route = ["stub:small"]
kind = "chat"
context_tokens = 128_000
max_output_tokens = 8_000
input_pusd = 150_000
output_pusd = 600_000
`

/** What the stub reports of every run: 100 read, 60 written. */
export const usage = {
  prompt_tokens: 100,
  completion_tokens: 60,
  total_tokens: 160,
  prompt_tokens_details: {
    cached_tokens: 40,
    cache_write_tokens: 20,
    audio_tokens: 10,
    image_tokens: 5,
  },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 8, image_tokens: 2 },
} as const

/** The units of its lines where every class has a rate. */
export const units = {
  ...{ input: 25, cache_read: 40, cache_write: 20, audio_input: 10, image_input: 5 },
  ...{ output: 20, reasoning: 30, audio_output: 8, image_output: 2, request: 1 },
}

/** Answers each chat with a sentence and {@link usage}. */
export const answerWithUsage = (_: StubCall, response: import('node:http').ServerResponse) => {
  const message = { role: 'assistant', content: 'Every run leaves a receipt.' }
  const answer: JsonObject = {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** A prompt long enough that what is reported can be true. */
export const prompt = 'Where is my order 20-4417? '.repeat(8)

export const bodyFor = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: prompt }],
  max_tokens: 400,
  ...more,
})
