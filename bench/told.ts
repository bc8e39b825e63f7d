/**
 * The CPU of a paid run whose end is told to a webhook, its delivery included, and of one with
 * telemetry at 1 %, each against the same gateway without either, in the same rounds.
 */
import { join } from 'node:path'
import { plain } from './paid.ts'
import { cpuUs, interleave, median, type Pace } from './rounds.ts'
import type { Row } from './table.ts'
import { type Running, startCounterfoil } from './targets.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** `folder` gets the data of two gateways of their own. */
export async function measureTold(
  { stub, gateway }: { stub: Running; gateway: Running },
  { seconds, rounds }: Pace,
  folder: string,
): Promise<Row[]> {
  let taken = 0
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      await request.arrayBuffer()
      taken++
      return new Response(null, { status: 204 })
    },
  })
  const origin = `http://127.0.0.1:${receiver.port}`
  const webhook = `
[[webhooks]]
id = "bench"
url = "${origin}/hook"
events = ["run.ended"]
secret_env = "BENCH_HOOK"
`
  const telemetry = `
[telemetry]
endpoint = "${origin}"
sample = 0.01
`
  const start = (name: string, more: string) =>
    startCounterfoil(stub, { name, folder: join(folder, name), more, env: { BENCH_HOOK: secret } })
  const told = await start('told', webhook)
  const traced = await start('traced', telemetry)
  try {
    const results = await interleave('paid runs that are told and traced, 32 at once', {
      targets: [gateway, told, traced],
      load: plain(32, seconds),
      rounds,
    })
    const cpu = (target: Running) => median(results, target, cpuUs)
    if (taken === 0) throw new Error('the webhook got nothing')
    return [
      {
        quantity: 'CPU of a paid run told to a webhook against one that is not',
        measured: cpu(told) / cpu(gateway),
      },
      {
        quantity: 'CPU of a paid run with telemetry at 1 % against one without',
        measured: cpu(traced) / cpu(gateway),
        gate: ['≤', 1.05],
        aim: 1.02,
      },
    ]
  } finally {
    for (const one of [told, traced]) await one.process.stop()
    receiver.stop(true)
  }
}
