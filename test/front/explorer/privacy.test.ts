import { describe, expect, test } from 'bun:test'
import { scopes } from '../../../src/access/keys/key.ts'
import { promise } from '../../support/promise.ts'
import { pricedBuiltins } from '../../support/runs.ts'
import { type Engine, engines, usd, type World, world } from '../../support/world.ts'
import { namedKey, runOnce, shareAs } from './world.ts'

const now = Date.UTC(2026, 10, 20, 12, 34, 56, 789)
const secretly = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'

/** Every public answer that a private run could be read off. */
const paths = [
  ...['24h', '7d', '30d', 'all'].flatMap((window) => [
    `/v1/explorer/stats?window=${window}`,
    `/explorer?window=${window}`,
  ]),
  ...['receipt', 'anchor', 'passport'].map((type) => `/v1/explorer/recent?type=${type}`),
  '/explorer?public=1',
  '/v1/passports',
  '/v1/passports/harbor-lab',
  '/v1/models',
  '/passports',
  '/',
]

/** What of an answer tells of the run: by its line in the list, or by how many there are. */
const allowed = [
  // JSON, line by line.
  /^"(receipts|runs|succeeded|success_rate_bps)": ?\d+$/,
  /^"(index|as_of_size|anchored_share_bps)": ?\d+$/,
  /^"(first_id|last_id)": ?"\d+"$/,
  /^"(minute|model|outcome|object|visibility)": ?"[^"]*"$/,
]

// What is told does not hang on the engine: two worlds of the slow one would tell nothing more.
describe.each(engines.filter((one) => one !== 'pglite'))('one more private run on %s', (engine) => {
  promise`I6 H: One private run changes nothing public but counts and its place.`
  test('changes nothing public but counts, an index, a minute, a model and an outcome', async () => {
    const without = await seed(engine, false)
    const withOne = await seed(engine, true)
    for (const path of paths) {
      const [before, after] = [without.get(path) ?? [], withOne.get(path) ?? []]
      for (const line of added(before, after)) {
        const isAllowed = path.startsWith('/v1')
          ? allowed.some((one) => one.test(line))
          : isWord(line)
        if (!isAllowed) throw new Error(`${path} tells: ${line}`)
      }
      const all = after.join('\n')
      for (const tell of [secretly, 'key_', 'sess_', 'team-secret', '90f79bf6eb2c', '45000']) {
        expect([path, tell, all.includes(tell)]).toEqual([path, tell, false])
      }
    }
  }, 120_000)
})

/** What stands on a page beside markup: a count, a time of a minute, the model, the outcome. */
const isWord = (line: string): boolean =>
  /^(\d[\d,]*( runs?| leaf| leaves)?|\d+(\.\d+)?%|—|\d+ private runs?, counterfoil\/(echo|embed)-1|counterfoil\/(echo|embed)-1(, complete)?|complete|Signed and( logged)?|logged|this minute|\d+ min ago|[A-Z][a-z]{2} \d+(, \d\d:\d\d)?: \d+ runs?|\d+(\.\d+)?% succeeded, including private runs\.|Runs per (hour|day), .*|\d+ leaves in the log|Leaf \d+ of \d+, under a signed root\.|Waiting: \d+ leaves)$/.test(
    line,
  )

/** Lines of the second that the first has not, or has less often. */
function added(before: readonly string[], after: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const line of before) left.set(line, (left.get(line) ?? 0) + 1)
  return after.filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}

/** The same world, with or without one run that no one is shown; its answers as lines. */
async function seed(engine: Engine, isOneMore: boolean) {
  const w = await world({ engine, now, toml: pricedBuiltins })
  try {
    const harbor = await namedKey(w, 'harbor-lab', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
    const wish = {
      account: secretly,
      balance: usd,
      scopes: [...scopes],
      tags: { team: 'team-secret' },
    }
    const { secret } = await w.key(wish)
    for (let i = 0; i < 6; i++) {
      const id = await runOnce(w, harbor, 'one two three')
      if (i > 0) await shareAs(w, harbor, id, { visibility: 'public' })
    }
    if (isOneMore) await runOnce(w, secret, 'four five six '.repeat(100))
    await w.deps.sequencer.flush()
    w.advance(10_000)
    const answers = new Map<string, string[]>()
    for (const path of paths) {
      const answer = await w.call(path, { headers: { 'accept-encoding': 'identity' } })
      const text = await answer.text()
      const isPage = !path.startsWith('/v1')
      answers.set(
        path,
        (isPage ? wordsOf(text) : linesOf(text)).map((line) => steady(line, w)),
      )
    }
    return answers
  } finally {
    await w.stop()
  }
}

const linesOf = (text: string): string[] =>
  JSON.stringify(JSON.parse(text), null, 1)
    .split('\n')
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => /\w/.test(line))

const wordsOf = (text: string): string[] =>
  text
    .split(/<[^>]*>/)
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Ids, hashes and how long something took differ between two worlds anyway. */
const steady = (line: string, w: World): string =>
  line
    .replaceAll(w.origin, 'ORIGIN')
    .replace(/\b(rcpt|psp|anc|req)_[0-9a-z…]+/g, '$1_ID')
    .replace(/0x[0-9a-f]{8,}/g, 'HEX')
    .replace(/"(durationMs|median_first_token_ms)": ?"?\d+"?/, '"$1": MS')
    .replace(/^(chat, )?\d+(\.\d+)? m?s$/, 'MS')
    .replace(/, after \d+\.\d+ s\.$/, ', after MS.')
    .replace(/0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/g, 'HEX')
