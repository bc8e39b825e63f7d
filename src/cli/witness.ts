/** `witness`: signs what other logs publish, so that they cannot show two histories. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { openLog } from '../app/logging.ts'
import { serveWitness, witnessLimits } from '../app/serve-witness.ts'
import { hostPort } from '../config/values.ts'
import { readWatchedLogs, type WatchedLogs } from '../config/witness-logs.ts'
import { systemClock } from '../kernel/clock.ts'
import { sha256Hex } from '../kernel/hash.ts'
import { parseBlock } from '../kernel/network-block.ts'
import { systemRandom } from '../kernel/random.ts'
import { noteSigner } from '../proof/signer/ed25519.ts'
import { readSecretFile, writeKeyFile } from '../proof/signer/key-file.ts'
import { forkFiles } from '../proof/witnessing/store/evidence.ts'
import { openWitnessStore } from '../proof/witnessing/store.ts'
import { makeWitness } from '../proof/witnessing/witness.ts'
import { isKeyName, keyTypes, noteKey, vkeyOf } from '../verify/signed-note.ts'
import type { Listen } from '../web/http/host.ts'
import { Exit, exitCodes, print, say } from './context.ts'

const defaultListen = '127.0.0.1:4670'

export function witnessCommand(program: Command): void {
  program
    .command('witness')
    .description('sign the checkpoints of other logs that continue what was signed before')
    .requiredOption(
      '--logs <file>',
      'logs.toml: [[logs]] with origin and key; SIGHUP reads it again',
    )
    .addOption(
      new Option('--listen <host:port>', 'where to listen')
        .argParser(readListen)
        .default(readListen(defaultListen), defaultListen),
    )
    .option(
      '--trusted-proxy <block>',
      'address or CIDR block of a proxy before it, whose X-Forwarded-For is believed; repeatable',
      readProxy,
      [],
    )
    .option(
      '--data <folder>',
      'holds the key, what was signed, and forks that were shown',
      'witness',
    )
    .option(
      '--name <name>',
      'name of its key, like witness.example/1; stays that of the first start',
    )
    .action(serve)
}

type Options = {
  logs: string
  listen: Listen
  trustedProxy: string[]
  data: string
  name?: string
}

async function serve({ logs: file, listen, trustedProxy, data, name }: Options): Promise<void> {
  if (name !== undefined && !isKeyName(name)) {
    throw new Exit(exitCodes.usage, '--name must not hold spaces, plus or control characters.')
  }
  let logs = readLogs(file)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const signer = noteSigner(openSeed(join(data, 'witness.key')))
  const store = openWitnessStore(join(data, 'witness.db'), sha256Hex)
  const given = name ?? `counterfoil-witness/${sha256Hex(signer.publicKey).slice(0, 16)}`
  const own = store.nameOf(given)
  if (name !== undefined && name !== own) {
    throw new Exit(exitCodes.configuration, `${data} is of the witness ${own}; leave --name out.`)
  }
  const key = noteKey(own, keyTypes.cosignature, signer.publicKey)
  const log = openLog({ level: 'info', format: 'json' })
  const clock = systemClock
  const keysOf = (origin: string) => logs.get(origin)
  const keepFork = forkFiles(join(data, 'forks'))
  const take = witnessLimits(clock)
  const needs = { key, sign: signer.sign, keysOf, store, keepFork, take, clock, log }
  const server = serveWitness(makeWitness(needs), listen, trustedProxy)
  print(vkeyOf(key))
  say(`Listening on http://${listen.hostname}:${listen.port} for ${logs.size} logs.`)
  process.on('SIGHUP', () => {
    try {
      logs = readLogs(file)
      say(`Watching ${logs.size} logs.`)
    } catch (error) {
      say(`${error instanceof Error ? error.message : error} The logs stay as they were.`)
    }
  })
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await server.stop()
  store.close()
}

/** @throws Exit 78 that lists every problem */
function readLogs(file: string): WatchedLogs {
  let toml: string
  try {
    toml = readFileSync(file, 'utf8')
  } catch {
    throw new Exit(exitCodes.configuration, `${file} cannot be read: --logs names the logs.`)
  }
  const read = readWatchedLogs(toml)
  if ('logs' in read) return read.logs
  const list = read.problems.map((problem) => `  - ${problem}`).join('\n')
  throw new Exit(exitCodes.configuration, `${file} is invalid:\n${list}`)
}

/** The seed of the key; made at the first start. */
function openSeed(path: string): Uint8Array {
  const text = readSecretFile(path, 'witness key')
  if (text === undefined) {
    writeKeyFile(path, Buffer.from(systemRandom().bytes(32)).toString('hex'))
    return openSeed(path)
  }
  const digits = text.trim()
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new Exit(exitCodes.failed, `${path} is not a key file.`)
  return new Uint8Array(Buffer.from(digits, 'hex'))
}

function readProxy(text: string, before: string[]): string[] {
  if (parseBlock(text)) return [...before, text]
  throw new InvalidArgumentError('expected an address or a CIDR block, like 10.0.0.0/8')
}

function readListen(text: string): Listen {
  const read = hostPort.check(hostPort.fromText(text))
  if ('value' in read) return read.value
  throw new InvalidArgumentError(`expected ${read.must}`)
}
