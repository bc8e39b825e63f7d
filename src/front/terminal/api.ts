/** POST /v1/terminal/run: one command of the public terminal. */
import { Elysia } from 'elysia'
import type { Json } from '../../kernel/canonical.ts'
import { refuseField } from '../../kernel/refusal.ts'
import { stopWithClient } from '../../runs/live-run.ts'
import { readJson } from '../../web/http/body.ts'
import { checkBody } from '../../web/http/check-body.ts'
import { keylessGuard } from '../../web/http/keyless.ts'
import type { SseContext } from '../../web/http/sse.ts'
import type { PublicDeps } from '../explorer/public-cache.ts'
import { allowanceOf } from './allowance.ts'
import { lookUps, type Viewer } from './api/commands.ts'
import { type TerminalResult, toAskResult, toResult } from './api/result.ts'
import { streamAsk } from './api/terminal-stream.ts'
import { commands, readLine } from './language.ts'
import { terminalBody } from './shapes.ts'
import type { Slots } from './slots.ts'
import { beginSponsoredRun, type SponsoredRequest } from './sponsored-run.ts'

/** Who asks: what they are counted under, and the places for asks that all doors share. */
type TerminalContext = { network: string; slots: Slots }

/** Bytes of a request: a question of 2 KiB, each byte of it escaped. */
export const bodyBytes = 16_384

export const terminalApi = (deps: PublicDeps, slots: Slots) =>
  new Elysia({ name: 'terminal-api' }).use(keylessGuard(deps)).post(
    '/v1/terminal/run',
    async ({ network, request, server, set }) => {
      const { value } = await readJson(request, { limitBytes: bodyBytes })
      return runBodyOf(deps, value, { network, slots }, { request, server, set })
    },
    { isKeyless: true, parse: 'none' },
  )

async function runBodyOf(
  deps: PublicDeps,
  value: Json,
  asking: TerminalContext,
  context: SseContext,
) {
  const body = checkBody(terminalBody, value)
  const { command, input, model, stream = false } = body
  if ((command === undefined) === (input === undefined)) {
    refuseField('command', 'Send either "command" or "input".')
  }
  const { network, slots } = asking
  const { name, argument } =
    command === undefined
      ? { name: 'ask' as const, argument: input ?? '' }
      : readLine(command, commands)
  if (name !== 'ask') {
    const wrong = stream ? 'stream' : model === undefined ? undefined : 'model'
    if (wrong) refuseField(wrong, `Only ask takes "${wrong}".`)
    return lookUp(deps, { name, argument }, network)
  }
  const wish = { network, input: argument, model, received: value }
  if (!stream) return askWhole(deps, slots, wish, context)
  return streamAsk(deps, await beginSponsoredRun(deps, slots, wish), context)
}

/** Runs any command but `ask`, for a visitor. */
async function lookUp(
  deps: PublicDeps,
  { name, argument }: { name: keyof typeof lookUps; argument: string },
  network: string,
): Promise<TerminalResult> {
  const told = await lookUps[name](deps, argument, visitor)
  return toResult(name, told, await allowanceOf(deps, network))
}

const visitor: Viewer = { acting: undefined }

async function askWhole(
  deps: PublicDeps,
  slots: Slots,
  wish: SponsoredRequest,
  { request, set }: Pick<SseContext, 'request' | 'set'>,
): Promise<TerminalResult> {
  const ask = await beginSponsoredRun(deps, slots, wish)
  stopWithClient(ask.live, request.signal)
  const result = toAskResult(deps, await ask.answer({ send: () => undefined }))
  set.headers['x-receipt-id'] = result.receipt.id
  return result
}

/** Runs a line from the page. @throws Refusal as the route */
export async function runLine(
  deps: PublicDeps,
  text: string,
  { network, slots }: TerminalContext,
  context: Pick<SseContext, 'request' | 'set'>,
): Promise<TerminalResult> {
  const { name, argument } = readLine(text, commands)
  if (name !== 'ask') return lookUp(deps, { name, argument }, network)
  const wish = { network, input: argument, model: undefined, received: { command: text } }
  return askWhole(deps, slots, wish, context)
}
