/** One attempt to deliver an event: its message, its signature, and what the endpoint answered. */
import type { Deps } from '../../app/deps-port.ts'
import type { Messages } from './message.ts'
import { secretsOf } from './secrets.ts'
import { signedHeaders } from './sign.ts'
import type { DueDelivery } from './store/outbox.ts'
import type { AttemptResult } from './webhook.ts'
import { agentOf, headersOf } from './webhook-view.ts'

export type AttemptNeeds = Pick<
  Deps,
  'clock' | 'postChecked' | 'webhookSecrets' | 'settings' | 'version'
>

/** Makes one attempt, and returns it as the page shows it. */
export async function attempt(
  deps: AttemptNeeds,
  { event, webhook }: DueDelivery,
  { messageOf, signal }: { messageOf: Messages; signal: AbortSignal },
): Promise<AttemptResult> {
  const { clock } = deps
  const startedAt = clock.monotonic()
  const secrets = secretsOf(deps, webhook, clock.now())
  // No chat checks a signature, so chat webhooks of the operator need no secret.
  if (secrets.length === 0 && (webhook.accountId !== '' || webhook.format === 'standard')) {
    return { httpStatus: null, error: 'secret_unreadable', durationMs: 0 }
  }
  const body = messageOf(event, webhook.format)
  const agent = agentOf(deps.version.version)
  const to = { host: URL.parse(webhook.url)?.host ?? '', format: webhook.format, agent }
  const headers = {
    ...headersOf(event, agent),
    ...signedHeaders(secrets, { id: event.id, at: clock.now(), body }),
  }
  const posted = await deps.postChecked({
    from: webhook.id,
    url: webhook.url,
    headers,
    body,
    signal,
  })
  const durationMs = Math.round(clock.monotonic() - startedAt)
  if ('error' in posted) return { httpStatus: null, error: posted.error, durationMs, to }
  const { status: httpStatus, answer } = posted
  return { httpStatus, error: null, durationMs, to, ...(answer === undefined ? {} : { answer }) }
}
