import { join } from 'node:path'
import { type Door, runLoad } from './load.ts'
import { anonPeakOf, usageOf } from './processes.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { type Kind, modelOf, type Running, startCounterfoil } from './targets.ts'

const messages: Door = {
  path: '/v1/messages',
  ask: (content, max_tokens) => ({ messages: [{ role: 'user', content }], max_tokens }),
}

const responses: Door = {
  path: '/v1/responses',
  ask: (input, max_output_tokens) => ({ input, max_output_tokens }),
}

type Way = { name: string; door?: Door; kind: Kind }

const chat: Way = { name: 'chat', kind: 'openai' }

/** Each door before a server of its own protocol, and before one that it is translated for. */
const ways: Way[] = [
  chat,
  { name: 'Messages, passed on', door: messages, kind: 'anthropic' },
  { name: 'Messages, translated', door: messages, kind: 'openai' },
  { name: 'Responses, passed on', door: responses, kind: 'responses' },
  { name: 'Responses, translated', door: responses, kind: 'openai' },
  { name: 'chat before Messages', kind: 'anthropic' },
]

const streamsAtOnce = 300

const at = (gateway: Running, { name, door, kind }: Way): Running => ({
  ...gateway,
  name,
  model: (behaviour) => modelOf(kind, behaviour),
  ...(door ? { door } : {}),
})

/** What a stream costs at each door, in turns with one of Chat Completions. */
export async function measureDoors(
  { gateway, stub }: { gateway: Running; stub: Running },
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  const targets = ways.map((way) => at(gateway, way))
  const load = { behaviour: 't16', stream: true, connections: 32, seconds }
  const results = await interleave('streams of 16 frames at each door', { targets, load, rounds })
  const [plain, ...others] = targets
  if (!plain) return []
  const usual = median(results, plain, cpuUs)
  const rows = others.map(
    (target): Row => ({
      quantity: `CPU of a stream of 16 frames against one of chat: ${target.name}`,
      measured: median(results, target, cpuUs) / usual,
    }),
  )
  for (const way of ways) rows.push(await memoryOf(stub, way, join(folder, way.name)))
  return rows
}

/** Of a gateway that did nothing else: the peak above what its first few streams took. */
async function memoryOf(stub: Running, way: Way, folder: string): Promise<Row> {
  const running = await startCounterfoil(stub, { name: way.name, folder })
  try {
    const target = at(running, way)
    const load = { behaviour: 't300-i20', stream: true, connections: streamsAtOnce, seconds: 6 }
    await runLoad(target, { ...load, connections: 8, seconds: 1 })
    const warmMiB = usageOf(running.pid).anonMiB
    const grownMiB = (await anonPeakOf(running.pid, runLoad(target, load))) - warmMiB
    const measured = (grownMiB / streamsAtOnce) * 1024
    return { quantity: `memory a stream, 300 at once, KiB (RssAnon): ${way.name}`, measured }
  } finally {
    await running.process.stop()
  }
}
