import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { senderKey } from '../proof/anchors/anchored.ts'
import { type Home, must, type Server } from '../support/binary.ts'
import { until } from '../support/runs.ts'

export type Row = { status: string; size: number; prev_size: number; tx_hash: string | null }

/** How long a chain of events over real clocks may take on a busy machine, in ms. */
const patienceMs = 60_000

/** The configuration of a service that anchors each receipt, over this RPC server. */
export const configOf = (url: string): string => `
[chain]
rpc_urls = ["${url}"]
[anchors]
sender_key_file = "anchor.key"
min_receipts = 1
min_interval_s = 1
`

/** Puts the sender's key into the folder of a service, readable by its owner only. */
export function writeSenderKey(home: Home, key = senderKey, mode = 0o600): void {
  writeFileSync(join(home.folder, 'anchor.key'), `${key}\n`, { mode })
}

export async function run(server: Server, key: string): Promise<string> {
  const json = { model: 'counterfoil/echo-1', input: 'hello' }
  const answer = await server.call('/v1/runs', { key, json })
  if (answer.status !== 200) throw new Error(`the run was answered ${answer.status}`)
  return (await answer.json()).receipt.id
}

/** Waits until the proof of a receipt has this status of its anchor, and gives the proof. */
export const untilAnchor = (server: Server, id: string, status: string) =>
  until(
    `a ${status} anchor`,
    async () => {
      const proof = await server.get(`/v1/receipts/${id}/proof`)
      return proof.anchor?.status === status && proof
    },
    patienceMs,
  )

/** All anchors as the command line lists them, oldest first. */
export async function anchorsOf(home: Home): Promise<Row[]> {
  const { data } = JSON.parse(await must(home, 'anchor', 'status', '--json'))
  return data.reverse()
}
