/** Texts of the first page of the reference, for people and as Markdown. */

/** Rules of every route. */
export const rules = [
  'Money is integer nano-USD (`_nusd`): 1 USD is 1,000,000,000. Prices are integer pico-USD a ' +
    'unit (`_pusd`), the same as micro-USD a million units.',
  'Times are RFC 3339, UTC, with milliseconds (`created_at`); Unix seconds in OpenAI’s shapes ' +
    '(`created`); decimal text in milliseconds inside of receipts.',
  'Lists: `limit` (1 to 100, 20 if absent) and `after` (the `last_id` of the page before), ' +
    'newest first, with `has_more`.',
  'Bodies are JSON, at most 32 MiB unless the operator says otherwise, plain or packed with ' +
    'gzip, zstd, deflate or br (`Content-Encoding`). Native routes refuse members they do not ' +
    'know; OpenAI’s ignore them.',
  '`Idempotency-Key` makes a repeated run, or a key that is made, the same one for 24 hours: ' +
    'same body, same answer, with `Idempotent-Replayed: true`; another body is a 422; ' +
    'one that still runs is a 409.',
  'Every answer has `X-Request-Id`. Answers to keys say in `RateLimit`, `RateLimit-Policy` and ' +
    '`x-ratelimit-limit-requests`, `-remaining-requests`, `-reset-requests` where the nearest ' +
    'limit stands.',
  'Web pages of any origin may read the keyless routes, without credentials.',
  'Routes under `/api` use the session cookie of a wallet, not a key, and refuse changes from ' +
    'other origins (`csrf_failed`). They take JSON, or a form where one is described. They ' +
    'answer JSON, a fragment to htmx (`HX-Request: true`), and a page or 303 to a browser that ' +
    'wants a page (`Accept: text/html`).',
  'The reference has every route under `/v1`, `/operator/v1`, `/api` and `/mcp`, the probes and ' +
    'the two documents. All other paths are pages for people. `/metrics` has its own listener.',
]

/** The behaviour of official clients. */
export const notes = [
  'openai’s `idempotencyKey` option sends no header: say `headers: {"Idempotency-Key": …}`.',
  'They retry 408, 409, 429 and 5xx by themselves. Before a 5xx goes out the hold was released, ' +
    'so a retried run is charged once. `retry-after-ms` and `retry-after` say how long to wait.',
  'Every other 4xx has `x-should-retry: false`, so that none waits for what will not change.',
  'Money that does not suffice is a 402, which none retries, but where only runs of the ' +
    'same key are in the way (`x-should-retry: true`, with `retry-after`). ' +
    '`error.metadata.max_affordable_output_tokens` says what would fit; `fit: true` in the body, ' +
    'the header `X-Counterfoil-Fit: true` or `limits.fit` of the key lowers `max_tokens` to it.',
  'A stream that fails after its first chunk carries `data: {"error":{…}}` and ends without ' +
    '`[DONE]`; all of them raise it. Delivered output was charged.',
  '`usage` and `receipt` of a run are members of the answer; in a stream of its last chunk: the ' +
    'usage chunk with `stream_options: {"include_usage": true}`, else the one that finishes.',
]

export const onceText = `const run = await client.chat.completions.create(
  { model: 'counterfoil/echo-1', messages: [{ role: 'user', content: 'Once.' }] },
  { headers: { 'Idempotency-Key': 'order-1' } },
)
console.log(run.receipt.id, run.usage.cost_nusd)`

export const errorText =
  'One body everywhere: `{"error": {"type", "code", "message", "param", "request_id", ' +
  '"metadata"?}}`. `code` equals `type`, the message says what to do next, and `param` is the ' +
  'path of a wrong field.'

/** The variables that OpenAI's clients read. */
export const environmentText = (baseUrl: string): string =>
  `export OPENAI_BASE_URL=${baseUrl}/v1 OPENAI_API_KEY=$COUNTERFOIL_KEY`

export const toolText =
  '`POST /mcp` speaks the Model Context Protocol over streamable HTTP, without sessions: ' +
  '`list_models`, `run`, `get_quote`, `cancel_run`, `get_receipt`, `verify_receipt`, ' +
  '`get_proof`, `key_self`, `mint_key`, `revoke_key`, `usage`, `export_usage`. Each is ' +
  'a request to `/v1` with the same key, limits and errors; models, proofs, shared receipts and ' +
  'their verification need no key.'

/** The configuration of an MCP client. */
export const clientText = (baseUrl: string): string =>
  JSON.stringify(
    {
      mcpServers: {
        counterfoil: {
          url: `${baseUrl}/mcp`,
          headers: { Authorization: 'Bearer sk-service-…' },
        },
      },
    },
    null,
    2,
  )
