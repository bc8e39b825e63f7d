/** `gather --shards FILE`: serves the public figures and lists of all shards together. */
import type { Command } from 'commander'
import { gatherer } from '../app/gather/api/gather.ts'
import { hostPort } from '../config/values.ts'
import { systemClock } from '../kernel/clock.ts'
import { makeIds } from '../kernel/ids.ts'
import { systemRandom } from '../kernel/random.ts'
import { shardHeader } from '../kernel/shard.ts'
import { request } from '../models/upstream/http.ts'
import { serveRequests } from '../web/http/serve.ts'
import { Exit, exitCodes, say } from './context.ts'
import { servedShardsOf } from './shard-file.ts'

const limits = {
  firstByteMs: 5000,
  idleMs: 5000,
  totalMs: 10_000,
  answerBytes: 4 * 1024 * 1024,
  streamBytes: 0,
}

export function gatherCommand(program: Command): void {
  program
    .command('gather')
    .description('serve the public figures and lists of all shards together; reads only')
    .option('--shards <file>', 'file of all shards, each with its url', 'shards.toml')
    .option('--listen <host:port>', 'where to listen', '127.0.0.1:4665')
    .action(({ shards: file, listen }: { shards: string; listen: string }) => {
      const at = hostPort.check(listen)
      if ('must' in at) throw new Exit(exitCodes.usage, `--listen must be ${at.must}`)
      const shards = servedShardsOf(file)
      const ids = makeIds(systemClock, systemRandom())
      const handle = gatherer({ shards, read: readShard, clock: systemClock, ids })
      const server = serveRequests(handle, at.value)
      say(`counterfoil gather listens on port ${server.port} for ${shards.length} shards`)
      const stop = () => void server.stop(true).then(() => process.exit())
      process.on('SIGTERM', stop)
      process.on('SIGINT', stop)
    })
}

async function readShard({ id, url }: { id: string; url: string }, path: string): Promise<unknown> {
  const { signal } = new AbortController()
  const headers = { [shardHeader]: id, accept: 'application/json' }
  const answer = await request({ url: url + path, method: 'GET', headers, signal, limits })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`the shard ${id} answered ${answer.status}`)
  return JSON.parse(text)
}
