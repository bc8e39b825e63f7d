/** A visitor of a demonstration: signs in, looks around, runs models, and meets resets. */
import { type Jar, keepCookies } from '../test/access/accounts/wallet.ts'

/** The state that all visitors of a drill share. */
export type Crowd = {
  origin: string
  /** True when they come back no more. */
  isOver: () => boolean
  /** Milliseconds between two things that a visitor does. */
  pauseMs: number
  /** Private things of each visitor. */
  owned: Map<number, { mark: string; run: string | undefined; key: string }>
  seen: Seen
}

export type Seen = {
  pages: number
  runs: number
  /** Runs that their model failed, as some are meant to. */
  failed: number
  /** Sessions and keys that a reset ended, each with the sentence that says so. */
  resets: number
  /** Things of others that were asked for and answered 404. */
  probes: number
  limited: number
  slowestMs: number
  faults: string[]
}

export const nothingSeen = (): Seen => ({
  pages: 0,
  runs: 0,
  failed: 0,
  resets: 0,
  probes: 0,
  limited: 0,
  slowestMs: 0,
  faults: [],
})

const pages = ['/dashboard', '/dashboard/runs', '/dashboard/receipts', '/dashboard/keys']
const more = ['/dashboard/usage', '/dashboard/statement', '/explorer', '/models', '/']

/** Visits until the end. Everything that a visitor must not meet becomes a fault. */
export async function visit(crowd: Crowd, index: number): Promise<void> {
  while (!crowd.isOver()) {
    try {
      await stay(crowd, index)
    } catch (error) {
      crowd.seen.faults.push(`visitor ${index}: ${String(error)}`)
      await Bun.sleep(crowd.pauseMs)
    }
  }
}

/** From a sign-in to the reset that ends it, or to the end. */
async function stay(crowd: Crowd, index: number): Promise<void> {
  const { origin, seen, owned, pauseMs } = crowd
  const jar: Jar = new Map()
  const from = `198.51.${100 + (index >> 8)}.${index & 255}`
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('x-forwarded-for', from)
    if (jar.size > 0) headers.set('cookie', [...jar].map((pair) => pair.join('=')).join('; '))
    const begun = performance.now()
    const answer = await fetch(origin + path, { redirect: 'manual', ...init, headers })
    seen.slowestMs = Math.max(seen.slowestMs, performance.now() - begun)
    keepCookies(jar, answer)
    return answer
  }
  const html = { accept: 'text/html' }
  const form = { ...html, 'content-type': 'application/x-www-form-urlencoded' }
  const arrived = await send('/signin/visitor', { method: 'POST', headers: form, body: 'next=%2F' })
  await arrived.text()
  if (arrived.status !== 303) throw new Error(`the sign-in answered ${arrived.status}`)
  const mark = `mark-${crypto.randomUUID().slice(-12)}`
  const made = await send('/api/portal/keys', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: mark, cap: { limit_nusd: 2_000_000_000, window: 'lifetime' } }),
  })
  const key = (await made.json()) as { id: string; secret: string }
  // The reset can come between two requests, also these.
  if (made.status === 401) return void seen.resets++
  if (!made.ok) throw new Error(`the key answered ${made.status}`)
  const own = { mark, run: undefined as string | undefined, key: key.id }
  owned.set(index, own)

  /** Opens a page; false when the session is gone. */
  const look = async (path: string): Promise<boolean> => {
    const answer = await send(path, { headers: html })
    const text = await answer.text()
    if (answer.status === 303) {
      const asked = answer.headers.get('location') ?? ''
      const page = await (await send(asked, { headers: html })).text()
      if (!page.includes('The demo was reset at')) throw new Error(`${asked} does not say why`)
      seen.resets++
      return false
    }
    if (answer.status === 429) seen.limited++
    else if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    else if (!text.trimEnd().endsWith('</html>')) throw new Error(`${path} is not whole`)
    else if (!text.includes('<aside class="demo"')) throw new Error(`${path} has no banner`)
    const others = [...text.matchAll(/mark-[0-9a-f]{12}/g)].filter(([one]) => one !== mark)
    if (others.length > 0) throw new Error(`${path} shows ${others[0]} to ${mark}`)
    seen.pages++
    return true
  }

  /** Runs a model; false when the key is gone. */
  const run = async (isStream: boolean): Promise<boolean> => {
    const answer = await send('/v1/chat/completions', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key.secret}`,
        'content-type': 'application/json',
        'x-counterfoil-tags': `mark=${mark}`,
      },
      body: JSON.stringify({
        model: 'acme/small',
        messages: [{ role: 'user', content: mark }],
        max_tokens: 120,
        stream: isStream,
      }),
    })
    const text = await answer.text()
    if (answer.status === 401) {
      if (!text.includes('The demo was reset at')) throw new Error(`a key is refused: ${text}`)
      seen.resets++
      return false
    }
    if (answer.status === 429) seen.limited++
    else if ([502, 503].includes(answer.status)) seen.failed++
    else if (answer.status !== 200) throw new Error(`a run answered ${answer.status}: ${text}`)
    else if (isStream && !/data: (\[DONE\]|\{"error")/.test(text)) {
      throw new Error(`a stream ends without a word: ${text.slice(-120)}`)
    } else seen.runs++
    own.run = /run_\w{26}/.exec(text)?.[0] ?? own.run
    return true
  }

  /** Asks for things of another visitor, which must not be there. */
  const probe = async (): Promise<void> => {
    const others = [...owned].filter(([one]) => one !== index)
    const other = others[Math.floor(Math.random() * others.length)]?.[1]
    if (!other) return
    const paths = [
      `/dashboard/keys/${other.key}`,
      ...(other.run
        ? [`/dashboard/runs/${other.run}`, `/v1/receipts/${other.run.replace('run_', 'rcpt_')}`]
        : []),
    ]
    for (const path of paths) {
      const answer = await send(path, { headers: html })
      const text = await answer.text()
      if (text.includes(other.mark)) throw new Error(`${path} shows a thing of another visitor`)
      if (answer.status === 404) seen.probes++
      else if (![303, 429].includes(answer.status)) {
        throw new Error(`${path} of another visitor answered ${answer.status}`)
      }
    }
  }

  let turn = index
  while (!crowd.isOver()) {
    turn++
    const isIn =
      turn % 5 === 0
        ? await run(turn % 2 === 0)
        : await look((turn % 3 === 0 ? more : pages)[turn % 4] ?? '/dashboard')
    if (!isIn) return
    if (turn % 7 === 0) await probe()
    await Bun.sleep(pauseMs * (0.5 + Math.random()))
  }
}

type CrowdWish = { visitors: number; pauseMs: number; isOver: () => boolean }

/** A number of visitors at once, until it is over. */
export async function crowdAt(origin: string, { visitors, pauseMs, isOver }: CrowdWish) {
  const crowd: Crowd = { origin, isOver, pauseMs, owned: new Map(), seen: nothingSeen() }
  const all = Array.from({ length: visitors }, async (_, index) => {
    // They do not all come in one moment.
    await Bun.sleep((index * pauseMs) / visitors)
    await visit(crowd, index)
  })
  await Promise.all(all)
  return crowd.seen
}
