import type { StopSignal } from '../../src/kernel/stop.ts'
import {
  type FailureReason,
  type JsonObject,
  type Upstream,
  type UpstreamCall,
  UpstreamFailure,
} from '../../src/models/upstream/upstream.ts'

/** What a model server does next: says something, ends, or breaks off. */
export type Deed = { say: JsonObject[] } | { fail: FailureReason } | 'end'

export type Channel = ReturnType<typeof makeChannel>

/** What the server of one run does, and whether what it did was taken. */
export function makeChannel() {
  const deeds: Deed[] = []
  let waits: { resolve(deed: Deed): void; reject(error: unknown): void } | undefined
  let told: (() => void)[] = []
  return {
    push(deed: Deed): void {
      const taker = waits
      waits = undefined
      if (taker) taker.resolve(deed)
      else deeds.push(deed)
    },
    next(signal: StopSignal): Promise<Deed> {
      const ready = deeds.shift()
      if (ready) return Promise.resolve(ready)
      if (signal.aborted) return Promise.reject(new UpstreamFailure('aborted'))
      const pending = new Promise<Deed>((resolve, reject) => {
        waits = { resolve, reject }
      })
      const stop = () => {
        waits?.reject(new UpstreamFailure('aborted'))
        waits = undefined
      }
      signal.addEventListener('abort', stop, { once: true })
      for (const tell of told) tell()
      told = []
      return pending
    },
    /** Resolves as soon as all that was pushed is taken and more is asked for. */
    idle: (): Promise<void> =>
      waits ? Promise.resolve() : new Promise((resolve) => void told.push(resolve)),
  }
}

export type SimUpstream = ReturnType<typeof simUpstream>

/** Model servers without a network: what each call is answered with is told beforehand. */
export function simUpstream() {
  const channels = new Map<string, Channel>()
  const channelOf = ({ body }: UpstreamCall): Channel => {
    const found = channels.get(tagIn(body))
    if (!found) throw new Error('no test set the answer of this call')
    return found
  }
  const upstream: Upstream = {
    id: 'sim',
    protocol: 'chat',
    async complete(call) {
      if (call.mark) call.mark.isSent = true
      const deed = await channelOf(call).next(call.signal)
      if (typeof deed === 'string') throw new UpstreamFailure('cut')
      if ('fail' in deed) throw new UpstreamFailure(deed.fail)
      return deed.say[0] ?? {}
    },
    async stream(call) {
      if (call.mark) call.mark.isSent = true
      const channel = channelOf(call)
      const first = await channel.next(call.signal)
      if (typeof first !== 'string' && 'fail' in first) throw new UpstreamFailure(first.fail)
      return follow(channel, first, call.signal)
    },
  }
  return {
    port: { get: () => upstream, list: () => [upstream] },
    /** What answers the call with this tag. */
    expect(tag: string): Channel {
      const channel = makeChannel()
      channels.set(tag, channel)
      return channel
    },
    forget: (tag: string): void => void channels.delete(tag),
  }
}

async function* follow(channel: Channel, first: Deed, signal: StopSignal) {
  for (let deed = first; deed !== 'end'; deed = await channel.next(signal)) {
    if ('fail' in deed) throw new UpstreamFailure(deed.fail)
    yield deed.say
  }
}

/** A request says first which it is. */
function tagIn(body: JsonObject): string {
  const [message] = body['messages'] as { content: string }[]
  return message?.content.split(' ')[0] ?? ''
}

export const piece = (content: string): JsonObject => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})
export const finish: JsonObject = {
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
}
export const usageChunk = (usage: JsonObject): JsonObject => ({ choices: [], usage })
