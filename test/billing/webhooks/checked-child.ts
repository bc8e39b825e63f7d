import { parseBlock } from '../../../src/kernel/network-block.ts'
import { makeCheckedPost } from '../../../src/models/upstream/checked-post.ts'

/**
 * Started by `checked-tls.test.ts` with `NODE_EXTRA_CA_CERTS`, which Bun reads once at its start.
 * Posts to each URL of its input, whose name resolves to the addresses beside it, one list for each
 * time that it is asked, and prints what came of it with how often the name was resolved.
 */
type Ask = { url: string; answers: string[][]; times?: number }

const allowed = [parseBlock('127.0.0.1/32'), parseBlock('127.0.0.3/32')].flatMap((one) => one ?? [])
const reach = { allowed, isLoopbackAllowed: false }

for (const line of (await Bun.stdin.text()).trim().split('\n')) {
  const { url, answers, times = 1 } = JSON.parse(line) as Ask
  let asked = 0
  const resolve = async () => answers[Math.min(asked++, answers.length - 1)] ?? []
  const post = makeCheckedPost(() => reach, resolve)
  const { signal } = new AbortController()
  const came: unknown[] = []
  for (let i = 0; i < times; i++) {
    came.push(await post({ from: 'whk_1', url, headers: { 'x-test': '1' }, body: '{}', signal }))
  }
  console.log(JSON.stringify({ came, asked }))
}
process.exit(0)
