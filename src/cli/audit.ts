/** `audit`: checks a whole log from outside: of a service, of all shards, or in a folder. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../kernel/clock.ts'
import { shardHeader } from '../kernel/shard.ts'
import { request } from '../models/upstream/http.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { WrongAnswer } from '../proof/audit/answers.ts'
import {
  type AuditReport,
  auditFiles,
  auditService,
  type FileOptions,
} from '../proof/audit/audit.ts'
import type { OnChain } from '../proof/audit/check-chain.ts'
import { checkMoves, type ToldMove, type ToldMoves } from '../proof/audit/check-moves.ts'
import { confessionIn, type Service, ServiceTrouble } from '../proof/audit/service-view.ts'
import { told } from '../verify/checks.ts'
import { type Checkpoint, parseCheckpoint } from '../verify/proof.ts'
import type { NoteKey } from '../verify/signed-note.ts'
import { addLogKey, openFiles, overHttp, readPaperFiles } from './audit-files.ts'
import { openRpc } from './chain.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { readPolicyFile } from './read-files.ts'
import { servedShardsOf } from './shard-file.ts'
import { readAddress } from './values.ts'

export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description('check a whole log from outside; with --rpc also against the chain')
    .option('--base <url>', 'origin of the service')
    .option(
      '--tiles <place>',
      'folder of log export, or URL of the log, to read its files from; without --base only these',
    )
    .option('--no-tiles', 'with --base: read no files of the log, which are 67 bytes a leaf')
    .option(
      '--log-key <vkey>',
      "note_key of the log as you know it; the service's claim is weaker; repeatable",
      addLogKey,
      [],
    )
    .option('--policy <file>', 'whom to trust: signers, keys of the log, witnesses and quorum')
    .option('--papers <path...>', 'your receipts and quotes, files or folders, to find in the log')
    .option('--rpc <url>', 'a JSON-RPC server of chain 4663 that you trust')
    .option(
      '--registry <0x…>',
      "anchor registry; the service's own claim is not trusted",
      readAddress,
    )
    .option(
      '--owner <0x…>',
      'wallet that opened the log there; default: as the service claims',
      readAddress,
    )
    .option('--state <file>', 'save the checkpoint here and compare the next audit with it')
    .option(
      '--owed-every <hours>',
      'fail where the service left out a statement of what it owes, as [liabilities] every_h',
      readHours,
    )
    .option('--json', 'print the whole report as JSON')
    .option('--shards <file>', 'audit the logs of all shards of this file, one after the other')
    .action(async (options: Options) => {
      const { base, shards, state, tiles } = options
      if (base === undefined && shards === undefined && typeof tiles === 'string') {
        process.exitCode = await auditPlace(tiles, options)
        return
      }
      if ((base === undefined) === (shards === undefined)) {
        const why = 'Name one of --base <url>, --shards <file> and --tiles <folder or URL>.'
        throw new Exit(exitCodes.usage, why)
      }
      if (shards !== undefined && typeof tiles === 'string') {
        throw new Exit(exitCodes.usage, 'The tiles of one log are not those of all --shards.')
      }
      if (base !== undefined) {
        process.exitCode = await auditOne({ base, state }, options)
        return
      }
      const codes: number[] = []
      const served = servedShardsOf(`${shards}`)
      for (const { id, url } of served) {
        if (!options.json) print(`Shard ${id}, ${url}:`)
        const own = state === undefined ? undefined : `${state}.${id}`
        codes.push(await auditOne({ base: url, state: own, id }, options))
      }
      codes.push(await auditMoves(served, options.json === true))
      // A log that is wrong weighs more than one that could not be read.
      process.exitCode = codes.find((code) => code === exitCodes.failed) ?? Math.max(...codes)
    })
}

/** Compares the moves of slots that all shards name, and returns the exit code. */
async function auditMoves(shards: { id: string; url: string }[], isJson: boolean): Promise<number> {
  const asked = shards.map(async ({ id, url }): Promise<ToldMoves> => {
    const status = await openService(url, id)
      .get('/v1/status')
      .catch((error: unknown) => {
        if (error instanceof ServiceTrouble) return undefined
        throw error
      })
    return { shard: id, moves: (status as { moves?: ToldMove[] } | undefined)?.moves }
  })
  const { sound, open, wrong } = checkMoves(await Promise.all(asked))
  if (isJson) printJson({ moves: { sound, open, wrong } })
  else {
    for (const text of wrong) print(`${marks.fail} ${'moves'.padEnd(14)} ${told(text, 1000)}`)
    for (const text of open) print(`${marks.unavailable} ${'moves'.padEnd(14)} ${told(text, 1000)}`)
    if (sound > 0) print(`${marks.pass} ${'moves'.padEnd(14)} ${sound} left and arrived alike`)
  }
  if (wrong.length > 0) return exitCodes.failed
  return open.length > 0 ? exitCodes.unavailable : 0
}

type AuditTarget = { base: string; state: string | undefined /** Of its shard. */; id?: string }

/** Audits one log, prints what came of it, and returns the exit code. */
async function auditOne({ base, state, id }: AuditTarget, options: Options): Promise<number> {
  const service = openService(base, id)
  const chain = onChain(options)
  const remembered = state === undefined ? undefined : readState(state)
  const { tiles, owedEvery } = options
  const open = (prefix: string) =>
    typeof tiles === 'string' ? openFiles(tiles) : overHttp(service.origin + prefix, headersOf(id))
  const report = await auditService({
    service,
    ...(chain && { chain }),
    ...(remembered && { remembered }),
    ...(owedEvery !== undefined && {
      owedEvery: { everyMs: owedEvery * 3_600_000, now: systemClock.now() },
    }),
    ...(tiles === false ? {} : { files: { open, ...knownTo(options) } }),
  })
  if (options.json) printJson(id === undefined ? report : { shard: id, ...report })
  else show(report, chain !== undefined)
  if (id !== undefined && report.origin !== null && report.origin.split('#')[1] !== id) {
    say(`${base} serves the log of ${told(report.origin)}, not of the shard ${id}: correct its url`)
    return exitCodes.failed
  }
  // An audit that could not compare must not replace the state of one that could.
  if (state !== undefined && report.holds) writeState(state, report.checkpoint)
  return exitCodeOf(report)
}

/** Audits the files of a log alone, prints what came of it, and returns the exit code. */
async function auditPlace(place: string, options: Options): Promise<number> {
  const { state, owner, rpc, json } = options
  if (state !== undefined) throw new Exit(exitCodes.usage, '--state needs --base.')
  if (rpc !== undefined && owner === undefined) {
    throw new Exit(exitCodes.usage, 'Without --base add --owner: the wallet that opened the log.')
  }
  const chain = onChain(options)
  const report = await auditFiles({ read: openFiles(place), ...knownTo(options) }, chain)
  if (json) printJson(report)
  else show(report, chain !== undefined)
  return exitCodeOf(report)
}

/** Reads the keys, policy and papers of the auditor. @throws Exit 2 */
function knownTo(options: Options): Omit<FileOptions, 'open'> {
  const { logKey: keys, papers = [] } = options
  const policy = readPolicyFile(options)
  if (policy?.chain === 'require' && options.rpc === undefined) {
    throw new Exit(exitCodes.usage, 'The policy requires the chain: add --rpc and --registry.')
  }
  const { witnesses, signers, issuers } = policy ?? {}
  return {
    keys,
    papers: readPaperFiles(papers),
    ...(witnesses && { witnesses }),
    ...(signers && { signers }),
    ...(issuers?.[0] !== undefined && { origin: issuers[0] }),
  }
}

type Options = {
  tiles?: string | false
  logKey: NoteKey[]
  policy?: string
  papers?: string[]
  base?: string
  shards?: string
  rpc?: string
  registry?: string
  owner?: string
  state?: string
  owedEvery?: number
  json?: boolean
}

function readHours(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected whole hours, such as 24')
}

/** @throws Exit 2 */
function onChain({ rpc, registry, owner }: Options): OnChain | undefined {
  if (rpc === undefined && registry === undefined && owner === undefined) return undefined
  if (rpc === undefined || registry === undefined) {
    const why =
      'Checking the chain needs both --rpc and --registry; the service cannot supply them.'
    throw new Exit(exitCodes.usage, why)
  }
  return { chain: openRpc(rpc), registry, ...(owner !== undefined && { owner }) }
}

const limits = {
  firstByteMs: 30_000,
  idleMs: 30_000,
  totalMs: 60_000,
  answerBytes: 4 * 1024 * 1024,
  streamBytes: 0,
}

/** The service behind an origin. @throws Exit 2 unless it is an http(s) URL */
function openService(base: string, shard: string | undefined): Service & { origin: string } {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Exit(exitCodes.usage, '--base is not an http(s) URL')
  }
  const { signal } = new AbortController()
  const headers = headersOf(shard)
  return {
    origin: url.origin,
    get: async (path) => {
      let text: string
      try {
        const answer = await request({
          url: url.origin + path,
          method: 'GET',
          headers,
          signal,
          limits,
        })
        text = await answer.text()
        const confession = confessionIn(answer.status, text)
        if (confession !== undefined) throw new WrongAnswer(`GET ${path}: ${confession}`)
        if (answer.status !== 200) {
          const told = `GET ${path} returned status ${answer.status}.`
          throw new ServiceTrouble(told, answer.status === 404)
        }
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        throw new ServiceTrouble(`GET ${path} failed: ${error.reason}.`)
      }
      try {
        return JSON.parse(text)
      } catch {
        throw new ServiceTrouble(`GET ${path} did not return JSON.`)
      }
    },
  }
}

/** A balancer before all shards finds one of them by these. */
const headersOf = (shard: string | undefined): Record<string, string> =>
  shard === undefined ? {} : { [shardHeader]: shard }

/** What the last audit saw; undefined before the first. @throws Exit 2 */
function readState(path: string): Checkpoint | undefined {
  if (!existsSync(path)) return undefined
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const found = parseCheckpoint(value, 'checkpoint', [])
    if (found) return found
  } catch {
    // Unreadable files and bad JSON get the same error.
  }
  throw new Exit(exitCodes.usage, `${path} is not an audit state file`)
}

/** Replaces the file by a rename, so that a crash leaves the old state. */
function writeState(path: string, checkpoint: Checkpoint | null): void {
  if (!checkpoint) return
  writeFileSync(`${path}.new`, `${JSON.stringify(checkpoint)}\n`)
  renameSync(`${path}.new`, path)
}

function exitCodeOf({ checks, holds }: AuditReport): number {
  if (checks.some(({ status }) => status === 'fail')) return exitCodes.failed
  return holds ? 0 : exitCodes.unavailable
}

const marks = { pass: '✓', fail: '✗', skip: '-', unavailable: '?' } as const

function show(report: AuditReport, hasChain: boolean): void {
  for (const { name, status, reason } of report.checks) {
    print(`${marks[status]} ${name.padEnd(14)} ${told(reason, 1000)}`)
  }
  if (!report.holds) {
    const isWrong = report.checks.some(({ status }) => status === 'fail')
    print(isWrong ? 'The audit failed.' : 'No check failed, but some could not run.')
    return
  }
  const of = `${report.size ?? 0} leaves, ${report.anchors} anchors of ${told(report.origin ?? '')}`
  print(`Every check passed: ${of}.`)
  if (!hasChain)
    say('The chain was not checked: --rpc URL --registry 0x… compares every root with it.')
  say('Not checked: that every run was logged, and the contents of receipts that you do not have.')
}
