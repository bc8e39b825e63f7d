import { Agent, type ClientRequest } from 'node:http'
import { grant, type Home, makeHome, makeKey, must, type Server } from '../test/support/binary.ts'
import { untilFree } from '../test/support/judges.ts'
import { modelsToml, pricedBuiltins, until } from '../test/support/runs.ts'
import { type StubUpstream, startStubUpstream } from '../test/support/stub-upstream.ts'
import { startChat } from './crowd.ts'
import { faultList, headOf } from './report.ts'
import { timesOf } from './samples.ts'

export type Shared = {
  name: string
  /** Of the streams that were asked for: those at the upstream, and those refused. */
  stalled: number
  refused: number
  /** Milliseconds of another account's runs, alone and beside the streams: median and 99th. */
  alone: [number, number]
  beside: [number, number]
  faults: string[]
}

const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const models = ['normal', 'stall', 'stall-1']
/** Runs of the other account in a measurement, and how many at once. */
const rounds = 30
const width = 8
/** Beyond this a run waited for something. In ms; a busy machine alone stays far below. */
const mostMedianMs = 2000

type Setting = { name: string; upstream: string; limits: string }

/** How the streams are limited: by nothing, by the upstream's places, by the server's. */
const settings = (streams: number): Setting[] => {
  const places = Math.floor(streams / 2)
  return [
    { name: 'as it comes', upstream: '', limits: '' },
    {
      name: `\`max_in_flight = ${places}\``,
      upstream: `max_in_flight = ${places}\nmax_wait_ms = 3000`,
      limits: '',
    },
    { name: `\`admission = ${places}\``, upstream: '', limits: `[limits]\nadmission = ${places}` },
  ]
}

/** One key stalls as many streams as it can, and another account runs models meanwhile. */
export async function drillShare(streams: number, say: (line: string) => void = () => {}) {
  const stub = await startStubUpstream()
  const shared: Shared[] = []
  let build = ''
  try {
    for (const setting of settings(streams)) {
      const toml = [modelsToml(stub.url, models, setting.upstream), setting.limits, pricedBuiltins]
      const home = await makeHome(toml.join('\n'))
      try {
        build = await must(home, 'version', '--json')
        shared.push(await drillSetting(home, stub, setting.name, streams))
      } finally {
        await home.remove()
      }
      say(lineOf(shared.at(-1)))
      await until('the upstream to be left alone', () => stub.counts.active === 0, 30_000)
    }
  } finally {
    await stub.stop()
  }
  return { streams, shared, faults: shared.flatMap(({ faults }) => faults), build }
}

async function drillSetting(
  home: Home,
  stub: StubUpstream,
  name: string,
  streams: number,
): Promise<Shared> {
  const greedy = (await makeKey(home)).secret
  const modest = (await makeKey(home, { account: other })).secret
  await grant(home, '1000.00')
  await grant(home, '1000.00', other)
  const server = await home.start()
  const faults: string[] = []
  const alone = await measure(server, modest, faults)
  const stalls = stall(server, greedy, streams)
  // Each is at the upstream, or was told that there is no place for it.
  await until('the streams', () => stalls.refused() + stub.counts.active === streams, 60_000)
  const beside = await measure(server, modest, faults)
  const stalled = stub.counts.active
  if (stalled === 0) faults.push('no stream stalls')
  if (beside[0] > mostMedianMs) faults.push(`a run took ${beside[0].toFixed(0)} ms`)
  stalls.hangUp()
  await untilFree(server, greedy, 60_000)
  return { name, stalled, refused: stalls.refused(), alone, beside, faults }
}

/** Runs of all kinds; the median and the 99th percentile of their times. */
async function measure(server: Server, key: string, faults: string[]): Promise<[number, number]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const asked = Array.from({ length: width }, async (_, i) => {
      const model = i === 0 ? 'counterfoil/echo-1' : 'stub/normal'
      const begun = performance.now()
      const json = { ...bodyOf(model), stream: i % 2 === 0 }
      const answer = await server.call('/v1/chat/completions', { key, json })
      const text = await answer.text()
      times.push(performance.now() - begun)
      if (answer.status !== 200) faults.push(`a run of the other account: ${text.slice(0, 200)}`)
    })
    await Promise.all(asked)
  }
  const { median, p99 } = timesOf(times)
  return [median, p99]
}

const bodyOf = (model: string) => ({
  model,
  messages: [{ role: 'user', content: 'a drill' }],
  max_tokens: 20,
})

/** By `node:http` without a limit of sockets: `fetch` would send 256 at a time. */
function stall(server: Server, key: string, streams: number) {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const open = new Set<ClientRequest>()
  let refused = 0
  for (let i = 0; i < streams; i++) {
    const sent = startChat(server, key, agent)
    sent.on('response', (answer) => {
      if (answer.statusCode === 429) refused++
      answer.on('error', () => undefined)
      answer.resume()
    })
    sent.on('error', () => undefined)
    const model = i % 2 === 0 ? 'stub/stall' : 'stub/stall-1'
    sent.end(JSON.stringify({ ...bodyOf(model), stream: true }))
    open.add(sent)
  }
  return {
    refused: () => refused,
    hangUp() {
      for (const sent of open) sent.destroy()
      agent.destroy()
    },
  }
}

const ms = ([median, p99]: [number, number]): string =>
  `${median.toFixed(1)} ms (p99 ${p99.toFixed(1)})`

const lineOf = (one: Shared | undefined): string =>
  one === undefined
    ? ''
    : [
        `${one.name}: ${one.stalled} streams stall, ${one.refused} were refused`,
        `a run of the other account takes ${ms(one.alone)} alone and ${ms(one.beside)} beside them`,
        ...one.faults.slice(0, 3),
      ].join('; ')

type Result = Awaited<ReturnType<typeof drillShare>>

export const shareReport = ({ streams, shared, faults, build }: Result): string =>
  `${headOf(`${streams.toLocaleString('en')} stalled streams of one key`, 'share', build)}

One key opens ${streams.toLocaleString('en')} streams, half of which never answer while the others
say a word and stall. Meanwhile another account runs models, ${width} at once, plain and streamed,
at the same upstream and at the built-in one. Every such run is answered with 200; what found no
place was a 429 and cost nothing.

${faultList(faults)}

${shared.map((one) => `- ${lineOf(one)}`).join('\n')}
`
