/** Writes /llms.txt. */

import { type Group, methodOf, pathOf } from '../../web/reference/operation.ts'
import { areas } from './areas.ts'
import { type FirstStep, firstSteps } from './first-steps.ts'

/** The first page for agents: enough to run, to check its budget and to verify a receipt. */
export const llmsOf = ({ baseUrl }: { baseUrl: string }): string => `# Counterfoil at ${baseUrl}

> A prepaid, OpenAI-compatible gateway to AI models. Every run is charged to your key, to the
> nano-dollar and never above its cap, and leaves a signed receipt that anyone can verify.

- Base URL for OpenAI clients: ${baseUrl}/v1
- Authentication: \`Authorization: Bearer sk-service-…\`. A key is a secret that spends money.
- Money is integer nano-USD (\`_nusd\`): 1 USD is 1,000,000,000. Prices are pico-USD (\`_pusd\`).
- Models and prices, without a key: ${baseUrl}/v1/models. Cached tokens,
  reasoning, sound, images and searches have rates of their own; \`lines\` of a run say its units.

The commands below find the key in the environment as COUNTERFOIL_KEY.
${firstSteps(baseUrl).map(toSection).join('')}
## Errors

One body: \`{"error": {"type", "code", "message", "param", "request_id", "metadata"?}}\`.
The message says what to do next. Every 4xx but 409 and 429 has \`x-should-retry: false\`.

- 400: fix the request; \`param\` names the field.
- 401, 403: the key is missing, unknown, revoked, expired, paused, or may not do this. Do not retry.
- 402 \`insufficient_balance\`, \`cap_exceeded\`: do not retry, unless
  \`x-should-retry: true\` says so. Lower \`max_tokens\` to
  \`metadata.max_affordable_output_tokens\`, or send \`"fit": true\`.
- 409, 429, 502, 503, 504: wait as long as \`Retry-After\` says, then retry; nothing was charged.
  Send the same \`Idempotency-Key\` header with the same body, and a run is charged once, however
  often it is sent.
- A stream that fails carries \`data: {"error":{…}}\` and ends without \`[DONE]\`.

## More

- [OpenAPI 3.1](${baseUrl}/openapi.json): every route, schema, example and error
- One area of it, less than 60 kB: ${baseUrl}/openapi/{area}.json; as Markdown:
  ${baseUrl}/docs/{area}.md. Areas: ${areaNames('programs')}
- [MCP](${baseUrl}/mcp): POST only, streamable HTTP; tools list_models, run, get_quote,
  cancel_run, get_receipt, verify_receipt, get_proof, key_self, mint_key, revoke_key,
  usage, export_usage; the same Authorization header
- [Reference for people](${baseUrl}/docs), [as Markdown](${baseUrl}/docs.md)
- The dashboard API (\`/api\`: sign in with a wallet, then its session cookie) is in the OpenAPI
  document only: agents need none of it. Its areas: ${areaNames('dashboard')}

## Routes
${areas
  .filter(({ group }) => group === 'programs')
  .map(toRoutes)
  .join('')}`

const areaNames = (group: Group): string =>
  areas
    .filter((area) => area.group === group)
    .map(({ id }) => id)
    .join(', ')

const toSection = ({ title, about, command }: FirstStep): string =>
  `\n## ${title}\n\n${about === undefined ? '' : `${about}\n\n`}\`\`\`sh\n${command}\n\`\`\`\n`

const toRoutes = ({ operations }: (typeof areas)[number]): string =>
  operations.map((one) => `\n- \`${methodOf(one)} ${pathOf(one)}\`: ${one.title}`).join('')
