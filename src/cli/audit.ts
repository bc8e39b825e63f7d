/** `audit --base URL`: checks a service's whole log from outside; needs no account. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type AuditReport, auditService } from '../front/audit/audit.ts'
import type { OnChain } from '../front/audit/check-chain.ts'
import { type Service, ServiceTrouble } from '../front/audit/service-view.ts'
import { request } from '../models/upstream/http.ts'
import { UpstreamFailure } from '../models/upstream/upstream.ts'
import { told } from '../verify/checks.ts'
import { type Checkpoint, parseCheckpoint } from '../verify/proof.ts'
import { openRpc } from './chain.ts'
import { Exit, exitCodes, print, printJson, say } from './context.ts'
import { readAddress } from './values.ts'

export function auditCommand(program: Command): void {
  program
    .command('audit')
    .description("check a service's whole log from outside; with --rpc also against the chain")
    .requiredOption('--base <url>', 'origin of the service')
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
    .option('--json', 'print the whole report as JSON')
    .action(async (options: Options) => {
      const service = openService(options.base)
      const chain = onChain(options)
      const remembered = options.state === undefined ? undefined : readState(options.state)
      const report = await auditService({
        service,
        ...(chain && { chain }),
        ...(remembered && { remembered }),
      })
      if (options.json) printJson(report)
      else show(report, chain !== undefined)
      process.exitCode = exitCodeOf(report)
      // An audit that could not compare must not replace the state of one that could.
      if (options.state !== undefined && report.holds) writeState(options.state, report.checkpoint)
    })
}

type Options = {
  base: string
  rpc?: string
  registry?: string
  owner?: string
  state?: string
  json?: boolean
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
function openService(base: string): Service {
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Exit(exitCodes.usage, '--base is not an http(s) URL')
  }
  const { signal } = new AbortController()
  return {
    get: async (path) => {
      let text: string
      try {
        const answer = await request({ url: url.origin + path, method: 'GET', signal, limits })
        text = await answer.text()
        if (answer.status !== 200) {
          throw new ServiceTrouble(`GET ${path} returned status ${answer.status}.`)
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
