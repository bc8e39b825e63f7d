import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Json } from '../../../src/kernel/canonical.ts'
import { TextFrames } from '../../../src/models/text-frames.ts'
import { openChunks } from '../../../src/models/upstream/chunk-stream.ts'
import type { WireAnswer } from '../../../src/models/upstream/http.ts'
import {
  type Batch,
  plainChunks,
  takeEach,
  UpstreamFailure,
} from '../../../src/models/upstream/upstream.ts'
import { commitOutput } from '../../../src/proof/receipts/receipt.ts'
import { ChunkSorter, frameWriter } from '../../../src/runs/chunks.ts'
import { chunkWriter } from '../../../src/runs/openai.ts'
import { prng } from '../../ledger/prng.ts'
import { nightly } from '../../support/nightly.ts'
import { startStubUpstream } from '../../support/stub-upstream.ts'
import { makeStream, readsOf } from './made-streams.ts'

setDefaultTimeout(600_000)

const seed = new Uint8Array(32).fill(7)
const base = { id: 'run_1', object: 'chat.completion.chunk', created: 1, model: 'm "1"' }

/** An answer whose body comes in these reads. */
function answerOf(reads: readonly Uint8Array[]): WireAnswer & { ends: string[] } {
  const left = [...reads]
  const ends: string[] = []
  return {
    status: 200,
    ends,
    text: async () => '',
    read: async () => left.shift(),
    async flow(take) {
      for (let bytes = left.shift(); bytes; bytes = left.shift()) if (!(await take(bytes))) return
    },
    end: () => void ends.push('end'),
    stop: () => void ends.push('stop'),
  }
}

type Way = { parseAll: boolean; each: boolean }

/** All that a client, a receipt and a bill see of a stream. */
async function outcomeOf(reads: readonly Uint8Array[], { parseAll, each }: Way) {
  const answer = answerOf(reads)
  const sorter = new ChunkSorter()
  const { collected, tail } = sorter
  const write = frameWriter(chunkWriter(base))
  const seen = { chunks: '', frames: [] as string[], last: [] as boolean[], reason: '' }
  let recognised = 0
  const take = (batch: Batch): boolean => {
    for (const one of batch) if (one instanceof TextFrames) recognised += one.texts.length
    seen.chunks += JSON.stringify(plainChunks(batch))
    seen.last.push(batch.isLast === true)
    seen.frames.push(write(sorter.sort(batch)))
    return true
  }
  try {
    const chunks = await openChunks(answer, { parseAll })
    if (each) await takeEach(chunks, take)
    else for await (const batch of chunks) take(batch)
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    seen.reason = error.reason
  }
  for (const chunk of tail) collected.addChunk(chunk)
  const said = collected.answer()
  const commitment = commitOutput(seed, said.choices as Json)
  return { recognised, seen: { ...seen, tail, said, commitment, ends: answer.ends } }
}

/** Compares both ways of reading a stream; returns how many frames were recognised. */
async function compare(reads: readonly Uint8Array[], each: boolean): Promise<number> {
  const fast = await outcomeOf(reads, { parseAll: false, each })
  const slow = await outcomeOf(reads, { parseAll: true, each })
  if (slow.recognised > 0) throw new Error('the parser alone recognises nothing')
  // Comparing texts is ten times faster than a deep comparison, and tells -0 from 0.
  const [one, other] = [JSON.stringify(fast.seen), JSON.stringify(slow.seen)]
  if (one !== other) expect(fast.seen).toEqual(slow.seen)
  expect(one === other).toBe(true)
  return fast.recognised
}

describe('frames that are recognised', () => {
  const most = nightly(100_000, 1_000_000)

  test(`are what the parser makes of them: ${most} frames of made streams`, async () => {
    const random = prng(nightly(18, Math.floor(performance.timeOrigin)))
    let frames = 0
    let recognised = 0
    while (frames < most) {
      const made = makeStream(random)
      recognised += await compare(readsOf(random, made.bytes), random.below(2) === 0)
      frames += made.frames
    }
    console.log(recognised / frames) // Or the comparison would say nothing.
    expect(recognised / frames).toBeGreaterThan(0.2)
  })

  test('are what the parser makes of them: streams of servers, cut and split at each byte', async () => {
    const stub = await startStubUpstream()
    const models = ['normal', 'undone', 'cut-3', 'fault-3', 'broken-3', 'usage-huge']
    let recognised = 0
    for (const model of models) {
      const answer = await fetch(`${stub.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model, messages: [], stream: true }),
      })
      const bytes = await answer.bytes()
      for (let at = 0; at <= bytes.length; at++) {
        recognised += await compare([bytes.subarray(0, at)], true)
        recognised += await compare([bytes.subarray(0, at), bytes.subarray(at)], at % 2 === 0)
      }
    }
    await stub.stop()
    expect(recognised).toBeGreaterThan(1000)
  })
})
