import { costOf } from '../src/models/meter.ts'
import type { EndedRun } from '../src/storage/db/schema/schema.ts'

type Wish = {
  id: string
  issuer: string
  account: string
  keyId: string
  finishedAt: number
  index: number
}

/** A run as it is stored, not numbered yet; `index` varies what it used and by which model. */
export function endedRun({ id, issuer, account, keyId, finishedAt, index }: Wish): EndedRun {
  const lines = [
    { meter: 'input' as const, quantity: 100 + (index % 900), pricePusd: 150_000n },
    { meter: 'output' as const, quantity: index % 500, pricePusd: 600_000n },
  ]
  const cost = costOf(lines, 500)
  const nothing = new Uint8Array(32)
  return {
    id,
    accountId: account,
    keyId,
    node: 'bench',
    status: 'succeeded',
    kind: 'chat',
    model: `acme/model-${index % 7}`,
    route: 'acme:model',
    createdAt: finishedAt - 900,
    startedAt: finishedAt - 900,
    firstByteAt: finishedAt - 500,
    finishedAt,
    hold: cost,
    windows: [],
    priceList: 'prices@1',
    lines: lines.map(({ pricePusd, ...line }) => ({ ...line, price: pricePusd.toString() })),
    cost,
    discountBps: 500,
    usageSource: 'reported',
    clamped: false,
    outcome: 'complete',
    error: null,
    tags: { team: `team-${index % 3}` },
    metadata: {},
    durationMs: 900,
    seed: nothing,
    inputCommitment: nothing,
    outputCommitment: nothing,
    issuer,
    passport: '',
    digest: new Bun.CryptoHasher('sha256').update(id).digest(),
    logPlace: null,
    signature: null,
    background: false,
    output: null,
    outputUntil: null,
  }
}
