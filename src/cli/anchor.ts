/** `anchor deploy|now|status|sync`: each also runs beside a live server. */
import { type Command, InvalidArgumentError } from 'commander'
import artefact from '../../contracts/AnchorRegistry.json' with { type: 'json' }
import { openAnchorOffice } from '../app/open-anchors.ts'
import type { Hex } from '../kernel/hex.ts'
import { maxPageLimit } from '../kernel/pagination.ts'
import { toAnchorView } from '../proof/anchors/anchor.ts'
import { anchorStatus } from '../proof/anchors/anchor-status.ts'
import { deployStep } from '../proof/anchors/deploy.ts'
import { syncAnchors } from '../proof/anchors/sync.ts'
import { watchChain } from '../proof/anchors/watch.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'

/** Interval between checks of a deployment, in ms. */
const lookMs = 1000

export function anchorCommands(program: Command): void {
  const anchor = program.command('anchor').description('anchor the log on chain 4663')
  verb(anchor, 'deploy', 'deploy an anchor registry, paid by the sender key').action(deploy)
  verb(anchor, 'now', 'ask the server to anchor now').action(now)
  verb(anchor, 'status', 'list the newest anchors and how much of the log is not anchored').action(
    status,
  )
  verb(anchor, 'sync', 'read all anchors from the chain again and repair the database')
    .option('--from-block <n>', 'first block to read', readBlock, 0)
    .action(sync)
}

type Options = { json?: boolean }

async function deploy(options: Options): Promise<void> {
  await using office = await openAnchorOffice(configOf(options))
  const known = await office.anchoring.registry()
  if (known !== undefined) {
    throw new Exit(exitCodes.failed, `A registry already exists: ${known}`)
  }
  const { chain, sender } = needed(office)
  say(`Deploying an anchor registry on chain 4663, paid by ${sender.address} …`)
  let deployed: Awaited<ReturnType<typeof deployStep>>
  while (!deployed) {
    deployed = await deployStep(office, { chain, sender }, artefact.bytecode as Hex)
    if (!deployed) await Bun.sleep(lookMs)
  }
  const address = await office.anchors.ensureRegistry(deployed.address)
  const { txHash, gasUsed } = deployed
  if (options.json) return printJson({ address, tx_hash: txHash, gas_used: Number(gasUsed) })
  print(address)
  say(`It cost ${gasUsed} gas. The address is saved; a running server anchors there from now on.`)
}

async function now(options: Options): Promise<void> {
  await using office = await openAnchorOffice(configOf(options))
  needed(office)
  if (!(await office.anchoring.isOn())) throw new Exit(exitCodes.failed, noRegistry)
  await office.anchors.want()
  if (options.json) printJson({ asked: true })
  else say('The server will anchor new leaves within seconds.')
}

async function status(options: Options): Promise<void> {
  await using office = await openAnchorOffice(configOf(options))
  assertOpened(office)
  const { origin } = office.logs.current
  const page = await office.anchors.list(origin, { limit: maxPageLimit, after: undefined })
  const data = (page?.items ?? []).map(toAnchorView)
  const size = await office.logStore.size()
  const place = await office.anchoring.placeOf(origin)
  const { log: reach } = await anchorStatus(office)
  const where = { registry: place?.registry ?? null, log_owner: place?.owner ?? null }
  if (options.json)
    return printJson({ object: 'list', ...where, log: { origin, size, ...reach }, data })
  for (const { status, prev_size, size, block_number, tx_hash, created_at } of data) {
    const at = block_number === null ? '' : `block ${block_number}`
    print(`${created_at}  ${status.padEnd(10)}  ${prev_size}…${size}  ${at}  ${tx_hash ?? ''}`)
  }
  say(`${origin}: ${reach.anchored_size} of ${size} leaves are anchored.`)
  if (reach.oldest_unanchored_s !== null)
    say(`The oldest other leaf has waited ${reach.oldest_unanchored_s} s.`)
  say(place ? `Registry ${place.registry}, owner ${place.owner}.` : noRegistry)
}

async function sync(options: Options & { fromBlock: number }): Promise<void> {
  await using office = await openAnchorOffice(configOf(options))
  assertOpened(office)
  const seen = await watchChain(office)
  if (!seen) throw new Exit(exitCodes.unavailable, unseen(office))
  const lease = await office.anchors.takeLease()
  if (!lease)
    throw new Exit(exitCodes.failed, 'A running server holds the anchoring lease; stop it first.')
  const { fromBlock } = options
  const { found, repaired, diverged } = await syncAnchors(office, seen, { lease, fromBlock })
  if (options.json) printJson({ found, repaired, diverged })
  else say(`${found} anchors found on the chain, ${repaired} repaired in the database.`)
  if (diverged.length === 0) return
  const sizes = diverged.join(', ')
  throw new Exit(
    exitCodes.failed,
    `The log differs from its anchors at sizes ${sizes}: this database is an old copy. ` +
      'Restore the newest one, or abandon this log: counterfoil log reopen --reason "…"',
  )
}

type Services = Awaited<ReturnType<typeof openAnchorOffice>>

const noRegistry =
  'No registry is configured. Run counterfoil anchor deploy, or set [anchors] registry.'

/** The chain and the sender, both needed to spend gas. @throws Exit 78 */
function needed({ chain, anchoring }: Pick<Services, 'chain' | 'anchoring'>) {
  const { sender } = anchoring
  if (chain && sender) return { chain, sender }
  const missing = [
    ...(chain ? [] : ['[chain] rpc_urls']),
    ...(sender ? [] : ['[anchors] sender_key_file']),
  ]
  const message = `Anchoring is off. Set ${missing.join(' and ')}.`
  throw new Exit(exitCodes.configuration, message)
}

/** @throws Exit 1 if no server has started on this database */
function assertOpened({ isOpened }: Services): void {
  if (isOpened) return
  throw new Exit(exitCodes.failed, 'This database has no log yet; start the server once.')
}

function unseen({ health, chain }: Services): string {
  if (!chain) return 'Anchoring is off. Set [chain] rpc_urls.'
  if (health.anchors.trouble === 'no_registry') return 'The configured address is not a registry.'
  return health.chain.trouble ? `The chain is not reachable: ${health.chain.trouble}` : noRegistry
}

function readBlock(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number')
  return Number(text)
}
