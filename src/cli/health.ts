/** `healthcheck`: for supervisors, and for scripts that wait for a server. */
import type { Command } from 'commander'
import { systemClock } from '../kernel/clock.ts'
import { request } from '../models/upstream/http.ts'
import { configOf, Exit, exitCodes, printJson, say, verb } from './context.ts'
import { readDuration } from './values.ts'

/** Timeout of one probe, in ms. */
const answerWithinMs = 5000
/** Pause between two probes with `--wait`, in ms. */
const pauseMs = 200

export function healthCommand(program: Command): void {
  verb(program, 'healthcheck', 'ask a running server whether it is ready; for supervisors')
    .argument('[url]', 'its origin; default: the server of this configuration')
    .option('--wait <time>', 'retry until it is ready, at most this long: 30s, 5m', readDuration)
    .action(checkHealth)
}

type Options = Record<string, unknown> & { wait?: number; json?: boolean }

async function checkHealth(url: string | undefined, options: Options): Promise<void> {
  const asked = url ? { origin: url.replace(/(?<!\/)\/+$/, ''), headers: undefined } : own(options)
  const until = systemClock.monotonic() + (options.wait ?? 0)
  let found = await ask(asked)
  while (!found.ready && systemClock.monotonic() < until) {
    await Bun.sleep(pauseMs)
    found = await ask(asked)
  }
  const { ready, status, words } = found
  if (options.json) printJson({ url: asked.origin, ready, status })
  if (!ready) throw new Exit(exitCodes.failed, words)
  say(words)
}

type HeaderFields = Record<string, string>
type HealthRequest = { origin: string; headers?: HeaderFields | undefined }
type Health = { ready: boolean; status: number | null; words: string }

async function ask({ origin, headers }: HealthRequest): Promise<Health> {
  try {
    const signal = AbortSignal.timeout(answerWithinMs)
    const answer = await request({
      url: `${origin}/readyz`,
      method: 'GET',
      signal,
      ...(headers ? { headers } : {}),
    })
    const { status } = answer
    const text = await answer.text()
    if (status === 200) return { ready: true, status, words: 'ready' }
    return { ready: false, status, words: `not ready (${status}): ${messageOf(text)}` }
  } catch {
    return { ready: false, status: null, words: `${origin} is not reachable` }
  }
}

/** The message of a refusal, or the beginning of another server's answer. */
function messageOf(text: string): string {
  try {
    return String(JSON.parse(text).error.message)
  } catch {
    return text.slice(0, 200)
  }
}

/**
 * The server of this machine, asked directly with its public name as Host: the public origin
 * would test proxies and the network too.
 */
function own(options: Options): HealthRequest {
  const { listen, base_url: baseUrl } = configOf(options)
  const { host } = new URL(baseUrl)
  if (listen.port === 0) return { origin: baseUrl }
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[listen.hostname] ?? listen.hostname
  const origin = `http://${name.includes(':') ? `[${name}]` : name}:${listen.port}`
  return { origin, headers: { host } }
}
