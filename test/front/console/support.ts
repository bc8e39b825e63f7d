import { grantCredit } from '../../../src/ledger/grant.ts'
import { type Browser, browser, signInWith, wallet } from '../../access/accounts/wallet.ts'
import { eventsOf } from '../../support/runs.ts'
import { usd, type World } from '../../support/world.ts'

export const account = wallet.address.toLowerCase()
export const runPath = '/api/portal/console/run'

/** Someone signed in, with money. */
export async function signedIn(w: World, balance = 5n * usd, signer = wallet): Promise<Browser> {
  const own = browser(w)
  await signInWith(own, signer)
  const wish = { account: signer.address.toLowerCase(), reason: 'test', actor: 'test' }
  if (balance > 0n) await grantCredit(w.deps, { ...wish, amount: balance })
  return own
}

/** A picture of one pixel. */
export const pngBytes = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
)
export const pngUrl = `data:image/png;base64,${Buffer.from(pngBytes).toString('base64')}`
export const pdfBytes = new Uint8Array(Buffer.from('%PDF-1.4\n1 0 obj <</Type /Page>>\n%%EOF'))
export const pdfUrl = `data:application/pdf;base64,${Buffer.from(pdfBytes).toString('base64')}`

/** A form with files as a browser without script posts it. */
export function postFiles(
  own: Browser,
  w: World,
  fields: Record<string, string>,
  files: readonly File[],
) {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  for (const file of files) body.append('files', file)
  const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return fetch(w.origin + runPath, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, accept: 'text/html', 'sec-fetch-site': 'same-origin' },
    body,
  })
}

type Event = {
  type?: string
  text?: string
  run_id?: string
  hold_nusd?: number
  run?: Record<string, unknown> & { cost_nusd: number; receipt_id: string; key_id: string }
  receipt?: { id: string; cost_nusd: number }
  error?: { type: string; message: string; metadata: Record<string, unknown> }
}

/** The events of a streamed answer. */
export async function askByStream(own: Browser, body: object): Promise<Event[]> {
  const answer = await own.call(runPath, { json: body, headers: { accept: 'text/event-stream' } })
  return eventsOf(await answer.text()).map((data) => JSON.parse(data))
}

export const saidIn = (events: Event[]): string => events.map(({ text }) => text ?? '').join('')

/** A form as a browser without script posts it; `more` has headers that tell a browser. */
export function postForm(
  own: Browser,
  w: World,
  path: string,
  fields: Record<string, string>,
  more: Record<string, string> = {},
) {
  const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  return fetch(w.origin + path, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie,
      accept: 'text/html,application/xhtml+xml',
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      ...more,
    },
    body: new URLSearchParams(fields),
  })
}

/** Asks a page's HTML without entities: what a reader sees, tags left out. */
export const readable = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&')
