import { type DisconnectResult, runDisconnects } from './disconnect.ts'
import type { Peers } from './paid.ts'
import { usageOf } from './processes.ts'
import type { Row } from './table.ts'
import type { Running } from './targets.ts'

type Side = { stub: Running; gateway: Running; peers: Peers }

const atOnce = 100
const cutCount = 3000
/** A thousand each; what is kept at the end of the first rounds may be there for good. */
const growthRounds = 10

/** Readers that go away: what the upstream still makes for them, and what we pay and keep. */
export async function measureCuts({ stub, gateway, peers }: Side): Promise<Row[]> {
  const before = await accountOf(gateway)
  const ours = await cut(gateway, stub, cutCount)
  const after = await settled(gateway)
  const counted = after.spent - before.spent
  const astray = after.held + Math.abs(before.balance - after.balance - counted)
  const marks: number[] = []
  for (let round = 0; round < growthRounds; round++) {
    await runDisconnects(gateway, stub.origin, 1000, atOnce)
    marks.push(usageOf(gateway.pid).rssMiB)
  }
  console.log(`  memory after each 1,000 more: ${marks.map((mark) => mark.toFixed(0)).join(' ')}`)
  const theirs = typeof peers === 'string' ? undefined : await cut(peers.onNode, stub, cutCount)
  return [
    {
      quantity: '3,000 disconnects: tokens still generated, against Portkey on Node',
      measured: theirs ? late(ours) / late(theirs) : String(peers),
      gate: ['≤', 0.01],
    },
    {
      quantity: 'streams of them that the upstream saw stopped',
      measured: ours.cut / ours.streams,
      gate: ['≥', 1],
    },
    { quantity: 'nUSD still held or lost by them', measured: astray, gate: ['≤', 0] },
    {
      quantity: '10,000 more: growth from the first half to the second, MiB',
      measured: mean(marks.slice(growthRounds / 2)) - mean(marks.slice(0, growthRounds / 2)),
      gate: ['≤', 4],
    },
  ]
}

/** Tokens that were generated after their reader had gone: of each it had read three. */
const late = ({ tokensSent, streams }: DisconnectResult): number =>
  Math.max(1, tokensSent - streams * 3)

const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length

async function cut(target: Running, stub: Running, count: number): Promise<DisconnectResult> {
  const result = await runDisconnects(target, stub.origin, count, atOnce)
  const { streams, cut, stillActive, tokensSent, tokensWhole } = result
  console.log(`${count} disconnects of ${target.name}`)
  console.log(`  ${cut} of ${streams} stopped, ${stillActive} still run`)
  console.log(`  ${tokensSent} of ${tokensWhole} tokens generated`)
  return result
}

/** The account once nothing is held any more, or after 3 s. */
async function settled(gateway: Running) {
  for (let tries = 0; ; tries++) {
    const account = await accountOf(gateway)
    if (account.held === 0 || tries === 30) return account
    await Bun.sleep(100)
  }
}

async function accountOf({ origin, headers }: Running) {
  const answer = await fetch(`${origin}/v1/keys/self`, { headers })
  const { account, cap } = (await answer.json()) as {
    account: { balance_nusd: number; held_nusd: number }
    cap: { spent_nusd: number }
  }
  return { balance: account.balance_nusd, held: account.held_nusd, spent: cap.spent_nusd }
}
