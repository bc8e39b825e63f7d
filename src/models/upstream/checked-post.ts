/** Posts to servers that users name: resolves the name, checks every address, connects to one. */
import { isIP } from 'node:net'
import { deadlineIn } from '../../kernel/deadline.ts'
import { parseAddress } from '../../kernel/network-address.ts'
import type { Block } from '../../kernel/network-block.ts'
import { isIn, isPublicAddress } from '../../kernel/public-address.ts'
import { type StopSignal, StopSwitch } from '../../kernel/stop.ts'
import { within } from '../../kernel/within.ts'
import type { Wire, WireAnswer, WireRequest } from './http.ts'
import { UpstreamFailure } from './upstream.ts'
import { openDirect } from './wire/wire.ts'

/** How long a whole attempt may take, in ms. */
const totalMs = 10_000
/** The bytes of an answer that are read. */
const answerBytes = 64 * 1024
/** The bytes of its start that are looked at, and those of them that are kept. */
const startBytes = 2048
const keptBytes = 200

const limits = {
  firstByteMs: totalMs,
  idleMs: totalMs,
  totalMs,
  answerBytes,
  streamBytes: answerBytes,
}

/** Servers whose connections are kept for the next message. The one used longest ago goes first. */
const mostWays = 512

/** The connections of one sender to one checked address. They end by themselves after seconds. */
type Connection = { wire: Wire; hasAnswered: boolean }

/** Addresses beside the public internet that a message may reach. */
export type Reach = {
  /** Networks that the operator allows. */
  allowed: readonly Block[]
  /** Whether loopback may be reached, without TLS too: while trying the server out. */
  isLoopbackAllowed: boolean
}

export type PostOutcome =
  /** `answer` is the start of a body; absent for a server that is not on the public internet. */
  { status: number; answer?: string } | { error: PostError }

/** Why there was no answer, in words that do not describe the network around this server. */
export type PostError =
  | 'forbidden_url'
  | 'forbidden_address'
  | 'unknown_host'
  | 'unreachable'
  | 'timeout'
  | 'redirect'

export type Post = (message: {
  /** Connections are never shared between these. */
  from: string
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: StopSignal
}) => Promise<PostOutcome>

/** The addresses of a name, from the system's resolver. */
export type Resolve = (name: string) => Promise<string[]>

const resolveBySystem: Resolve = async (name) =>
  (await Bun.dns.lookup(name, { backend: 'system' })).map(({ address }) => address)

/**
 * The name is resolved once a message, here, and the connection goes to an address that was
 * checked: a name that answers differently a moment later changes nothing. A connection to that
 * very address may be left of the message before. A redirect is not followed.
 */
export function makeCheckedPost(
  reach: () => Reach,
  resolve = resolveBySystem,
  withinMs = totalMs,
): Post {
  const ways = new Map<string, Connection>()
  const wayTo = (key: string, href: string, address: string): Connection => {
    const way = ways.get(key) ?? { wire: openDirect(href, { address }), hasAnswered: false }
    ways.delete(key)
    ways.set(key, way)
    const [oldest] = ways.keys()
    if (oldest !== undefined && ways.size > mostWays) ways.delete(oldest)
    return way
  }

  const post = async (
    { from, url, headers, body }: Parameters<Post>[0],
    signal: StopSignal,
  ): Promise<PostOutcome> => {
    const target = readTarget(url, reach())
    if (!target) return { error: 'forbidden_url' }
    const addresses = await resolveWithin(resolve, target.name, withinMs / 2)
    if (signal.aborted) return { error: 'unreachable' }
    const [address] = addresses
    if (address === undefined) return { error: 'unknown_host' }
    if (!addresses.every((one) => mayReach(one, target, reach()))) {
      return { error: 'forbidden_address' }
    }
    const key = `${from} ${address} ${target.href}`
    const way = wayTo(key, target.href, address)
    const isFirst = !way.hasAnswered
    const posted = await askOnce(way, { account: from, headers, body, signal, limits })
    const isLost = 'error' in posted && posted.error === 'unreachable'
    const told = (outcome: PostOutcome) => (isToldOf(address, reach()) ? outcome : quiet(outcome))
    if (isFirst || !isLost || signal.aborted) return told(posted)
    // Its server may have closed a kept connection at that moment. It may also have heard the
    // message, which it then hears again: messages are sent at least once.
    ways.delete(key)
    const fresh = wayTo(key, target.href, address)
    return told(await askOnce(fresh, { account: from, headers, body, signal, limits }))
  }
  return async (message) => {
    const { signal } = message
    const stop = new StopSwitch()
    const end = () => stop.stop()
    // The resolver and the server have their time together.
    const deadline = deadlineIn(withinMs, end)
    signal.addEventListener('abort', end, { once: true })
    try {
      const posted = await post(message, stop)
      const isLate = stop.aborted && !signal.aborted && 'error' in posted
      return isLate ? { error: 'timeout' } : posted
    } finally {
      deadline.clear()
      signal.removeEventListener('abort', end)
    }
  }
}

async function askOnce(way: Connection, asked: WireRequest): Promise<PostOutcome> {
  try {
    const answer = await way.wire.ask(asked)
    const start = startOf(await readStart(answer), asked.headers)
    way.hasAnswered = true
    return { status: answer.status, answer: start }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    return toPosted(error)
  }
}

/** Names that are loopback wherever they are resolved (RFC 6761). */
const loopbackNames = /^(?:(?:[^/]*\.)?localhost(?:\.localdomain)?|ip6-(?:localhost|loopback))\.?$/

/** Whether a URL may be sent to at all, before its name is resolved. */
export const isTarget = (url: string, reach: Reach): boolean => {
  const target = readTarget(url, reach)
  if (!target) return false
  if (loopbackNames.test(target.name)) return mayReach('127.0.0.1', target, reach)
  return isIP(target.name) === 0 || mayReach(target.name, target, reach)
}

type Target = { href: string; name: string; isSecure: boolean }

/** `URL` reads decimal, octal and hexadecimal hosts as the addresses that they are. */
function readTarget(text: string, reach: Reach): Target | undefined {
  const url = URL.parse(text)
  if (!url || url.username || url.password || url.hostname === '' || text.length > 2048) {
    return undefined
  }
  const isSecure = url.protocol === 'https:'
  if (!isSecure && !(url.protocol === 'http:' && reach.isLoopbackAllowed)) return undefined
  return { href: url.href, name: url.hostname.replace(/^\[|\]$/g, ''), isSecure }
}

function mayReach(text: string, { isSecure }: Target, reach: Reach): boolean {
  const address = parseAddress(text)
  if (!address) return false
  if (reach.isLoopbackAllowed && isLoopback(text)) return true
  if (!isSecure) return false
  return isPublicAddress(text) || isIn(address, reach.allowed)
}

function isLoopback(text: string): boolean {
  const address = parseAddress(text)
  return text === '::1' || (address?.kind === 4 && (address.groups[0] ?? 0) >> 8 === 127)
}

/** Answers of networks that the operator allows beside the internet are not for their customers. */
const isToldOf = (address: string, { isLoopbackAllowed }: Reach): boolean =>
  isPublicAddress(address) || (isLoopbackAllowed && isLoopback(address))

const quiet = (outcome: PostOutcome): PostOutcome =>
  'error' in outcome ? outcome : { status: outcome.status }

async function resolveWithin(resolve: Resolve, name: string, ms: number): Promise<string[]> {
  if (isIP(name) !== 0) return [name]
  const asking = resolve(name).catch((): string[] => [])
  return (await within(ms, asking)) ?? []
}

/** The first bytes of a body. The rest is not needed, and may never end. */
async function readStart(answer: Pick<WireAnswer, 'flow' | 'stop'>): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const keep = (piece: Uint8Array): boolean => {
    // A copy: the piece is a view of memory that is used again.
    if (bytes < startBytes) pieces.push(Uint8Array.from(piece.subarray(0, startBytes - bytes)))
    bytes += piece.byteLength
    return true
  }
  await answer.flow(keep).catch(() => {})
  answer.stop()
  return new TextDecoder().decode(Buffer.concat(pieces))
}

/** A signature as an echo may write it: in JSON, in a URL, or cut off. */
const signature = /v1a?(?:,|%2c|\\u002c)[\w+/=\\%-]{8,}/giu

/** The part of an answer that is kept: letters in order on one line, without a signature. */
function startOf(text: string, headers: Readonly<Record<string, string>>): string {
  const signed = Object.entries(headers).filter(([name]) => /signature|authorization/i.test(name))
  const secret = signed.flatMap(([, value]) => value.split(/[ ,]+/)).filter((one) => one.length > 8)
  const hidden = secret.reduce((rest, one) => rest.replaceAll(one, '…'), text)
  // Marks of direction could turn the words beside it around.
  const line = hidden.replace(signature, 'v1,…').replace(/[\p{C}\s]+/gu, ' ')
  const letters: string[] = []
  let bytes = 0
  for (const letter of line.trim()) {
    bytes += Buffer.byteLength(letter)
    if (bytes > keptBytes) break
    letters.push(letter)
  }
  return letters.join('')
}

function toPosted({ reason, status }: UpstreamFailure): PostOutcome {
  if (status !== undefined)
    return status >= 300 && status <= 399 ? { error: 'redirect' } : { status }
  return { error: reason === 'timeout' || reason === 'too_long' ? 'timeout' : 'unreachable' }
}
