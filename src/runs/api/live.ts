/** Streams the runs of an account to its open pages. */
import type { Deps } from '../../app/deps-port.ts'
import { refuse } from '../../kernel/refusal.ts'
import { htmlFrame, type SseClient, type SseContext, sseResponse } from '../../web/http/sse.ts'

/** A part of a page as it is now. An equal mark means no change: then it is not drawn. */
export type PartState = { mark: string; html: () => string | Promise<string> }

/** The time between looks without a notice, in ms: another process may have written. */
const pollMs = 2000
/** Changes within this time are shown together, in ms. */
const gatherMs = 250
/** Pages of one account that follow at a time. */
const followersMax = 50

type FollowedPart = {
  context: SseContext
  session: { id: string; accountId: string }
  /** The account whose runs wake it. */
  account: string
  /** The mark of what the page shows already; a client that comes back names a later one. */
  mark: string | undefined
  look: () => Promise<PartState>
}

/**
 * Keeps a part of a page as it is: each message is the whole part, so that a client that missed
 * some misses nothing. Ends with the session.
 * @throws Refusal 'rate_limited' when too many pages of the account follow already.
 */
export function followAccount(deps: Deps, following: FollowedPart): Response {
  const { context, account } = following
  if (deps.live.notices.count(account) >= followersMax) {
    refuse('rate_limited', 'Too many pages of this account are open. Close some and try again.')
  }
  const onBug = (error: unknown) => deps.log.error('page.follow_failed', error)
  // An error ends the stream without a word: the page would take it for its content.
  return sseResponse(context, (client) => follow(deps, following, client).catch(onBug), { onBug })
}

async function follow(
  deps: Deps,
  { context, session, account, mark, look }: FollowedPart,
  client: SseClient,
): Promise<void> {
  // Nothing may have changed for long, and a server sends its headers with the first bytes.
  client.send(': open\n\n')
  let shown = context.request.headers.get('last-event-id') ?? mark
  let wake = () => {}
  const stopWatching = deps.live.notices.watch(account, () => wake())
  client.signal.addEventListener('abort', () => wake())
  try {
    // A server that stops lets its pages go, before its database is closed.
    const isOver = () => client.signal.aborted || deps.health.stopping
    while (!isOver() && (await isSignedIn(deps, session))) {
      const noticed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const now = await look()
      if (now.mark !== shown) await client.send(htmlFrame(now.mark, await now.html()))
      shown = now.mark
      await Promise.race([noticed, Bun.sleep(pollMs)])
      if (!isOver()) await Bun.sleep(gatherMs)
    }
  } finally {
    stopWatching()
  }
}

const isSignedIn = async (
  { sessions, clock }: Deps,
  { accountId, id }: FollowedPart['session'],
): Promise<boolean> => (await sessions.get(accountId, id, clock.now())) !== undefined
