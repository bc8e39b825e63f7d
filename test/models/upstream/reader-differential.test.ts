import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import type { WireAnswer } from '../../../src/models/upstream/http.ts'
import { defaultHttpLimits } from '../../../src/models/upstream/http.ts'
import { Exchange } from '../../../src/models/upstream/wire/exchange.ts'
import type { Line, Lines } from '../../../src/models/upstream/wire/lines.ts'
import { promise } from '../../support/promise.ts'
import { doubtfulAnswers, goodAnswers, type Spoilt, spoiltAnswer } from './answer-bytes.ts'

/** What a reader made of an answer; `body` in base64, null where it could not be unpacked. */
type Read = { status: number; body: string | null; isKept: boolean }

/** Reads an answer that comes in two parts, on a connection that stays open. */
async function readAnswer({ bytes, part }: Spoilt): Promise<Read> {
  let isKept = false
  const line: Line = {
    account: 'a',
    socket: undefined,
    user: undefined,
    isWritten: true,
    isClosed: false,
    idleSince: undefined,
    reusedMs: 0,
    unsent: undefined,
  }
  const lines: Lines = {
    take: (exchange) => exchange.send(line),
    takeNew: () => {},
    keep: () => {
      isKept = true
    },
    cut: () => {},
    send: () => {},
  }
  const { signal } = new AbortController()
  const exchange = new Exchange(lines, 'a', signal, defaultHttpLimits)
  const answered = exchange.begin('request').catch(() => undefined)
  const at = Math.floor(part * bytes.length)
  for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) {
    if (piece.length > 0) exchange.take(piece)
  }
  if (!isKept) exchange.stop()
  const answer = await answered
  if (!answer || !isKept) return { status: answer?.status ?? 0, body: null, isKept }
  return { status: answer.status, body: await bodyOf(answer), isKept }
}

async function bodyOf(answer: WireAnswer): Promise<string | null> {
  const pieces: Uint8Array[] = []
  try {
    for (;;) {
      const piece = await answer.read()
      if (!piece) return Buffer.concat(pieces).toString('base64')
      pieces.push(piece)
    }
  } catch {
    return null
  }
}

type ByNode = Read & { encoding: string | null; isWhole: boolean }

async function readByNode(answers: Buffer[]): Promise<ByNode[]> {
  const child = Bun.spawn(['node', join(import.meta.dir, 'node-reader.mjs')], {
    stdin: Buffer.from(answers.map((bytes) => bytes.toString('base64')).join('\n')),
    stdout: 'pipe',
    env: { PATH: process.env['PATH'] ?? '' },
  })
  const found = await new Response(child.stdout).json()
  await child.exited
  return found
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('the reader of upstream answers', () => {
  test.each(goodAnswers)('keeps the connection after %j, however it is parted', async (text) => {
    const bytes = latin1(text)
    for (let at = 0; at <= bytes.length; at++) {
      const { isKept, body } = await readAnswer({ bytes, part: at / bytes.length })
      expect([at, isKept, body === null]).toEqual([at, true, false])
    }
  })

  promise`E13`
  test.each(doubtfulAnswers)('keeps no connection after %s', async (_, text) => {
    const bytes = latin1(text)
    for (let at = 0; at <= bytes.length; at++) {
      expect((await readAnswer({ bytes, part: at / bytes.length })).isKept).toBe(false)
    }
  })
})

describe.skipIf(!Bun.which('node'))('beside the HTTP client of Node', () => {
  test('Node reads each good answer whole and keeps its connection', async () => {
    const found = await readByNode(goodAnswers.map(latin1))
    expect(found.map(({ isWhole, isKept }) => isWhole && isKept)).toEqual(
      goodAnswers.map(() => true),
    )
  })

  promise`E13`
  test('An answer that keeps its connection open reads the same in Node.', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? 16)
    const answers = fc.sample(spoiltAnswer, {
      seed,
      numRuns: Number(process.env['FUZZ_RUNS'] ?? 4000),
    })
    const byNode = await readByNode(answers.map(({ bytes }) => bytes))
    let kept = 0
    const differing: unknown[] = []
    for (const [index, answer] of answers.entries()) {
      const here = await readAnswer(answer)
      if (!here.isKept) continue
      kept++
      const there = byNode[index]
      const isPacked = (there?.encoding ?? 'identity').toLowerCase() !== 'identity'
      const isSame =
        there?.isWhole &&
        there.isKept &&
        there.status === here.status &&
        (isPacked ? here.body === null : there.body === here.body)
      if (!isSame) differing.push({ answer: answer.bytes.toString('latin1'), here, there })
    }
    expect({ seed, differing }).toEqual({ seed, differing: [] })
    expect(kept).toBeGreaterThan(answers.length / 20)
  }, 60_000)
})
