import type { Tone } from '../../web/ui/status.tsx'
import type { statusOf } from '../status/api.ts'

type Status = Awaited<ReturnType<typeof statusOf>>

/** One part of the service: how it is, and what its operator does about that. */
export type Finding = { part: string; tone: Tone; state: string; advice: string }

/** What an operator looks at first, in the order in which it would hurt. */
export const findingsOf = (status: Status, faults: number): Finding[] => [
  databaseFinding(status),
  ledgerFinding(status, faults),
  logFinding(status),
  chainFinding(status),
  anchorFinding(status),
  depositFinding(status),
  modelFinding(status),
]

const well = 'Nothing to do.'

function databaseFinding({ database }: Status): Finding {
  const part = 'Database'
  if (database.status === 'ok') return { part, tone: 'ok', state: 'Answers', advice: well }
  const advice = 'Look at its disk and its server, then run: counterfoil doctor'
  if (database.status === 'read_only') {
    const words = `Nothing new is stored; the log says why (storage.failed). ${advice}`
    return { part, tone: 'bad', state: 'Takes no writes', advice: words }
  }
  return { part, tone: 'bad', state: 'Down', advice }
}

function ledgerFinding({ ledger }: Status, faults: number): Finding {
  const part = 'Ledger'
  if (ledger === 'balanced') return { part, tone: 'ok', state: 'Balanced', advice: well }
  if (ledger === 'checking') {
    return { part, tone: 'wait', state: 'Being checked', advice: 'The first audit is on its way.' }
  }
  const advice =
    `${faults} differences between money and its journal. Audit it now on the page of ` +
    'the ledger, and restore the newest backup that is whole.'
  return { part, tone: 'bad', state: 'Does not balance', advice }
}

function logFinding({ anchors, log }: Status): Finding {
  const part = 'Log'
  if (anchors.status === 'diverged') {
    const advice =
      'The chain holds another history: this database is an old copy. Put the newest one back, ' +
      'or give it up: counterfoil log reopen --reason "…"'
    return { part, tone: 'bad', state: 'Diverged', advice }
  }
  if (log.size === null) {
    return { part, tone: 'wait', state: 'Unknown', advice: 'The database does not say.' }
  }
  return { part, tone: 'ok', state: `${log.size.toLocaleString('en-US')} leaves`, advice: well }
}

function chainFinding({ chain }: Status): Finding {
  const part = 'Chain'
  if (chain.status === 'ok') {
    return { part, tone: 'ok', state: `Block ${chain.head}`, advice: well }
  }
  if (chain.status === 'disabled') {
    return { part, tone: 'wait', state: 'Off', advice: 'Name [chain] rpc_urls to turn it on.' }
  }
  if (chain.status === 'unchecked') {
    return { part, tone: 'wait', state: 'Not asked yet', advice: 'The first look is on its way.' }
  }
  const advice = 'Check [chain] rpc_urls: the server must answer, and be of chain 4663.'
  return { part, tone: 'bad', state: wordsOf(chain.status), advice }
}

const anchorAdvice: Readonly<Record<string, string>> = {
  no_registry: 'Nothing at that address is a registry. Correct [anchors] registry.',
  no_funds: 'Send ETH to the sender: its balance pays for no anchor.',
  not_owner: 'The sender is not the owner of the log. Use the key that opened it.',
  refused: 'The registry refuses the newest head. Compare: counterfoil anchor sync',
  late: 'The oldest receipt waits for twice the promised delay. Look at the chain and the sender.',
  chain_unavailable: 'The chain does not answer. Check [chain] rpc_urls.',
}

function anchorFinding({ anchors }: Status): Finding {
  const part = 'Anchors'
  if (anchors.status === 'ok') {
    const isLow = 'sender' in anchors && anchors.sender.low
    if (!isLow) return { part, tone: 'ok', state: 'Reach the chain', advice: well }
    return { part, tone: 'warn', state: 'Low balance', advice: 'Send ETH to the sender soon.' }
  }
  if (anchors.status === 'disabled') {
    const advice =
      'Set [chain] rpc_urls and [anchors] sender_key_file, then: counterfoil anchor deploy'
    return { part, tone: 'wait', state: 'Off', advice }
  }
  const reason = 'reason' in anchors ? (anchors.reason ?? '') : ''
  const advice = anchorAdvice[reason] ?? 'Run: counterfoil doctor'
  return { part, tone: 'bad', state: wordsOf(reason || anchors.status), advice }
}

function depositFinding({ deposits }: Status): Finding {
  const part = 'Deposits'
  if (deposits.status === 'ok') return { part, tone: 'ok', state: 'Credited', advice: well }
  if (deposits.status === 'disabled') {
    const advice = 'Set [chain] rpc_urls and [chain] treasury to take deposits.'
    return { part, tone: 'wait', state: 'Off', advice }
  }
  if (deposits.status === 'unchecked') {
    return { part, tone: 'wait', state: 'Not asked yet', advice: 'The first look is on its way.' }
  }
  const advice = deposits.reason?.startsWith('second_')
    ? 'What both RPC servers have to agree on waits, and nothing is lost. Compare the two.'
    : 'Nothing is credited meanwhile, and nothing is lost. Check [chain] and its token.'
  return { part, tone: 'bad', state: wordsOf(deposits.reason ?? 'degraded'), advice }
}

function modelFinding({ models }: Status): Finding {
  const part = 'Models'
  if (models.degraded === 0) {
    return { part, tone: 'ok', state: `${models.live} live`, advice: well }
  }
  const advice =
    'Their upstreams failed several times in a row and are tried again by themselves: see Models.'
  return { part, tone: 'bad', state: `${models.degraded} of ${models.live} rest`, advice }
}

/** `no_funds` as words. */
const wordsOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
