/** Links by which the first operator is appointed: while a service has none, and for an hour. */
import type { Deps } from '../../app/deps-port.ts'
import { hashToken, isToken, newToken } from '../accounts/session.ts'

export const setupLifeMs = 3_600_000

type Needs = Pick<Deps, 'setupLinks' | 'random' | 'clock'>

/** Makes a link, whose token is told only here. `alone`: those before it end. */
export async function issueSetupLink(
  { setupLinks, random, clock }: Needs,
  baseUrl: string,
  { alone }: { alone: boolean },
): Promise<string> {
  const token = newToken(random)
  const issuedAt = clock.now()
  const link = { hash: hashToken(token), issuedAt, expiresAt: issuedAt + setupLifeMs }
  await (alone ? setupLinks.replace(link) : setupLinks.add(link))
  return `${baseUrl}/setup?token=${token}`
}

/** Whether a token is one of a link that still lives. */
export async function opensSetup(
  { setupLinks, clock }: Pick<Deps, 'setupLinks' | 'clock'>,
  token: string | undefined,
): Promise<boolean> {
  if (token === undefined || !isToken(token)) return false
  return (await setupLinks.find(hashToken(token), clock.now())) !== undefined
}
