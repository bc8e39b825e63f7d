import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveWitness, witnessLimits } from '../../../src/app/serve-witness.ts'
import { sha256Hex } from '../../../src/kernel/hash.ts'
import { noteSigner } from '../../../src/proof/signer/ed25519.ts'
import { forkFiles } from '../../../src/proof/witnessing/store/evidence.ts'
import { openWitnessStore } from '../../../src/proof/witnessing/store.ts'
import { type Fork, makeWitness, submissionBytes } from '../../../src/proof/witnessing/witness.ts'
import {
  keyTypes,
  noteKey,
  parseNote,
  verifyNote,
  vkeyOf,
} from '../../../src/verify/signed-note.ts'
import { promise } from '../../support/promise.ts'
import { paperLog } from './paper-log.ts'

const log = paperLog('log.example/a')
const signer = noteSigner(new Uint8Array(32).fill(99))
const key = noteKey('witness.example/1', keyTypes.cosignature, signer.publicKey)

let folder: string
let witness: ReturnType<typeof open>
let minute = 0

function open(name = 'witness.db') {
  const store = openWitnessStore(join(folder, name), sha256Hex)
  const clock = { now: () => 1_700_000_000_000 + minute * 60_000, monotonic: () => minute * 60_000 }
  const logged: string[] = []
  const note = (event: string) => void logged.push(event)
  const needs = {
    key,
    sign: signer.sign,
    keysOf: (origin: string) => (origin === log.origin ? [log.key] : undefined),
    store,
    keepFork: forkFiles(join(folder, 'forks')),
    take: witnessLimits(clock),
    clock,
    log: { debug: note, info: note, warn: note, error: note },
  }
  const listen = { hostname: '127.0.0.1', port: 0 }
  const server = serveWitness(makeWitness(needs), listen)
  const at = `http://127.0.0.1:${listen.port}`
  return {
    store,
    logged,
    at,
    post: async (body: string | Uint8Array, path = '/add-checkpoint') => {
      const answer = await fetch(at + path, { method: 'POST', body: body as string })
      const type = answer.headers.get('content-type')
      return { status: answer.status, type, text: await answer.text(), headers: answer.headers }
    },
    stop: async () => {
      await server.stop(true)
      store.close()
    },
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterfoil-witness-'))
})
afterAll(async () => {
  await witness.stop()
  rmSync(folder, { recursive: true, force: true })
})
let turn = 0
beforeEach(async () => {
  if (turn > 0) await witness.stop()
  rmSync(join(folder, 'forks'), { recursive: true, force: true })
  minute += 10
  witness = open(`witness-${turn++}.db`)
})

const forks = (): Fork[] => {
  try {
    return readdirSync(join(folder, 'forks')).map((name) =>
      JSON.parse(readFileSync(join(folder, 'forks', name), 'utf8')),
    )
  } catch {
    return []
  }
}

/** The cosignatures of an answer that hold over a note of the log. */
const holding = (note: string, lines: string) => {
  const parsed = parseNote(`${note}${lines}`)
  return parsed ? verifyNote(parsed, [key]).signed : []
}

describe('a witness asked to add a checkpoint', () => {
  test('signs the first one it sees, and each that continues it, with its time', async () => {
    let old = 0
    for (const size of [5, 5, 8, 13, 64]) {
      const answer = await witness.post(log.body(old, size))
      expect([size, answer.status]).toEqual([size, 200])
      const [signed] = holding(log.note(size), answer.text)
      expect(signed?.time).toBe(BigInt(1_700_000_000 + minute * 60))
      old = size
    }
    expect(forks()).toEqual([])
  })

  test('signs an empty log, and what grows from it', async () => {
    expect((await witness.post(log.body(0, 0))).status).toBe(200)
    expect((await witness.post(log.body(0, 3))).status).toBe(200)
  })

  test('answers 409 with the size it signed last to another old size', async () => {
    const first = await witness.post(log.body(4, 9))
    expect([first.status, first.type, first.text]).toEqual([409, 'text/x.tlog.size', '0\n'])
    await witness.post(log.body(0, 9))
    for (const old of [0, 8, 10]) {
      const answer = await witness.post(log.body(old, 20))
      expect([old, answer.status, answer.text]).toEqual([old, 409, '9\n'])
    }
    expect((await witness.post(log.body(3, 5))).status).toBe(409)
    expect(forks()).toEqual([])
  })

  test('answers 400 to an old size beyond the checkpoint', async () => {
    await witness.post(log.body(0, 9))
    expect((await witness.post(`old 9\n\n${log.note(5)}`)).status).toBe(400)
  })

  test('answers 404 for a log that it does not watch', async () => {
    expect((await witness.post(paperLog('other.example').body(0, 5))).status).toBe(404)
  })

  test('answers 403 unless a key of the log signed', async () => {
    const stranger = paperLog(log.origin, { seed: 2 })
    expect((await witness.post(stranger.body(0, 5))).status).toBe(403)
    const forged = log.body(0, 5).replace(/\n\d+\n/, '\n6\n')
    expect((await witness.post(forged)).status).toBe(403)
    // A good line beside a broken one of the same key.
    const broken = log.note(6).split('\n').at(-2)
    expect((await witness.post(`${log.body(0, 5)}${broken}\n`)).status).toBe(403)
    // A line of a key that it does not know changes nothing.
    const beside = stranger.note(5).split('\n').at(-2)
    expect((await witness.post(`${log.body(0, 5)}${beside}\n`)).status).toBe(200)
  })

  test('answers 422 to a path that does not lead from one to the other', async () => {
    await witness.post(log.body(0, 9))
    const [hash = ''] = log.path(9, 20)
    for (const path of [[], [hash], [...log.path(9, 20), hash], log.path(8, 20)]) {
      expect((await witness.post(log.body(9, 20, path))).status).toBe(422)
    }
    expect((await witness.post(log.body(9, 9, [hash]))).status).toBe(422)
    expect((await witness.post(log.body(9, 20))).status).toBe(200)
  })

  test('answers 422 to a path from nothing, and to a root that an empty log has not', async () => {
    const [hash = ''] = log.path(9, 20)
    expect((await witness.post(log.body(0, 20, [hash]))).status).toBe(422)
    const wrong = `old 0\n\n${log.note(0, new Uint8Array(32))}`
    expect((await witness.post(wrong)).status).toBe(422)
    expect((await witness.post(log.body(0, 20))).status).toBe(200)
  })

  test.each([
    ['nothing', ''],
    ['no old size', log.note(5)],
    ['a negative one', log.body(0, 5).replace('old 0', 'old -1')],
    ['one with a zero before it', log.body(0, 5).replace('old 0', 'old 00')],
    ['a hash of another length', log.body(0, 5, ['AAAA'])],
    [
      '64 hashes',
      log.body(
        0,
        5,
        Array.from({ length: 64 }, () => log.path(9, 20)[0] ?? ''),
      ),
    ],
    ['no empty line', log.body(0, 5).replace('\n\n', '\n')],
    ['no signature', 'old 0\n\nlog.example/a\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'],
    ['text that is not UTF-8', new Uint8Array([0x6f, 0x6c, 0x64, 0xff])],
  ])('The witness answers 400 to a request with %s.', async (_, body) => {
    expect((await witness.post(body)).status).toBe(400)
  })

  test('takes 63 hashes as a path, one that does not verify', async () => {
    const path = Array.from({ length: 63 }, () => log.path(9, 20)[0] ?? '')
    expect((await witness.post(log.body(0, 5, path))).status).toBe(422)
  })

  test('answers 413 to more than a submission has, and 405 to another method', async () => {
    expect((await witness.post('a'.repeat(submissionBytes + 1))).status).toBe(413)
    expect((await fetch(`${witness.at}/add-checkpoint`)).status).toBe(405)
    expect((await witness.post('', '/')).status).toBe(405)
    expect((await fetch(`${witness.at}/other`)).status).toBe(404)
  })

  test('answers 429 to a log and to an address that ask too often', async () => {
    let last = 200
    for (let i = 0; i < 70 && last === 200; i++)
      last = (await witness.post(log.body(i && 5, 5))).status
    expect(last).toBe(429)
    minute += 2
    const codes = new Set<number>()
    for (let i = 0; i < 140; i++) codes.add((await fetch(`${witness.at}/`)).status)
    expect([...codes]).toEqual([200, 429])
  })
})

describe('a witness shown a fork', () => {
  const fork = paperLog(log.origin, { story: 1, parting: 7 })

  test('of the same size refuses it and keeps both heads, which prove it, in one file', async () => {
    await witness.post(log.body(0, 9))
    for (let i = 0; i < 3; i++) {
      const answer = await witness.post(`old 9\n\n${fork.note(9)}`)
      expect([answer.status, answer.text.includes('—')]).toEqual([409, false])
    }
    const [kept, ...more] = forks()
    expect([kept?.is_proof, kept?.origin, more.length]).toEqual([true, log.origin, 0])
    for (const note of [kept?.signed, kept?.shown]) {
      const parsed = parseNote(note ?? '')
      if (!parsed) throw new Error('unreadable')
      expect(verifyNote(parsed, [log.key]).signed.length).toBe(1)
    }
    expect(kept?.signed).not.toBe(kept?.shown)
    expect(witness.logged.filter((event) => event === 'witness.fork').length).toBe(3)
    // It goes on with the story that it signed.
    expect((await witness.post(log.body(9, 20))).status).toBe(200)
  })

  test('of a larger size refuses it and keeps what it was shown', async () => {
    await witness.post(log.body(0, 9))
    expect((await witness.post(fork.body(9, 20))).status).toBe(422)
    const [kept] = forks()
    expect([kept?.is_proof, kept?.old, kept?.path.length]).toEqual([
      false,
      '9',
      fork.path(9, 20).length,
    ])
    expect(kept?.shown).toBe(fork.note(20))
  })

  test('beside an outdated old size notices it too', async () => {
    await witness.post(log.body(0, 9))
    expect((await witness.post(fork.body(0, 9))).status).toBe(409)
    expect(forks().map(({ is_proof }) => is_proof)).toEqual([true])
  })

  test('keeps files that only its owner reads', async () => {
    await witness.post(log.body(0, 9))
    await witness.post(`old 9\n\n${fork.note(9)}`)
    const [name = ''] = readdirSync(join(folder, 'forks'))
    expect(statSync(join(folder, 'forks', name)).mode & 0o777).toBe(0o600)
  })
})

describe('what a witness signed', () => {
  test('is given to those who ask by the hash of the origin', async () => {
    const path = `/${sha256Hex(log.origin)}/checkpoint`
    expect((await fetch(witness.at + path)).status).toBe(404)
    const stranger = paperLog(log.origin, { seed: 2 }).note(9).split('\n').at(-2)
    await witness.post(`${log.body(0, 9)}${stranger}\n`)
    const answer = await fetch(witness.at + path)
    const note = parseNote(await answer.text())
    if (!note) throw new Error('unreadable')
    // The line of the log and its own, but none that it did not check.
    expect(note.lines.map(({ name }) => name)).toEqual([log.origin, key.name])
    expect(verifyNote(note, [log.key, key])).toMatchObject({
      signed: [{ key: log.key }, { key }],
      broken: [],
    })
  })

  promise`H11`
  test('is on the disk before the signature leaves: another process finds it', async () => {
    await witness.post(log.body(0, 9))
    const again = openWitnessStore(join(folder, `witness-${turn - 1}.db`), sha256Hex)
    expect(again.find(sha256Hex(log.origin))?.size).toBe(9n)
    // What the other signs is not forgotten here either.
    again.decide(log.origin, (seen) => {
      if (!seen) throw new Error('nothing seen')
      const row = { ...seen, size: 20n, root: log.rootAt(20), note: log.note(20) }
      return { value: 0, row: { ...row, cosigned: '', at: 0 } }
    })
    again.close()
    expect((await witness.post(log.body(9, 30))).text).toBe('20\n')
  })

  test('is nothing where the transaction failed', async () => {
    const failing = () =>
      witness.store.decide(log.origin, () => {
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect((await witness.post(log.body(0, 9))).status).toBe(200)
  })

  test('is signed under the name of the first start, and told to people', async () => {
    expect([witness.store.nameOf('a'), witness.store.nameOf('b')]).toEqual(['a', 'a'])
    expect(await (await fetch(`${witness.at}/`)).text()).toContain(vkeyOf(key))
  })
})
