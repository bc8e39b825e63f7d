/** Turns the service status into findings for the operator, each with advice. */
import type { Tone } from '../../web/ui/status.tsx'
import type { StatusAnswer } from '../status/shapes.ts'

/** The state of one part of the service, and what its operator should do. */
export type Finding = { part: string; tone: Tone; state: string; advice: string }

/** All parts, the most damaging failures first. */
export const findingsOf = (status: StatusAnswer, faults: number): Finding[] => [
  databaseFinding(status),
  ledgerFinding(status, faults),
  logFinding(status),
  chainFinding(status),
  anchorFinding(status),
  depositFinding(status),
  modelFinding(status),
]

const well = 'Nothing to do.'

function databaseFinding({ database }: StatusAnswer): Finding {
  const part = 'Database'
  if (database.status === 'ok') return { part, tone: 'ok', state: 'Online', advice: well }
  const advice = 'Check its disk and server, then run: counterfoil doctor'
  if (database.status === 'read_only') {
    const words = `Nothing new is stored; see storage.failed in the service log. ${advice}`
    return { part, tone: 'bad', state: 'Read-only', advice: words }
  }
  return { part, tone: 'bad', state: 'Down', advice }
}

function ledgerFinding({ ledger }: StatusAnswer, faults: number): Finding {
  const part = 'Ledger'
  if (ledger === 'balanced') return { part, tone: 'ok', state: 'Balanced', advice: well }
  if (ledger === 'checking') {
    return { part, tone: 'wait', state: 'Checking', advice: 'The first audit is running.' }
  }
  const advice =
    `${faults} differences between balances and the journal. Audit it on the Ledger page, ` +
    'then restore the newest intact backup.'
  return { part, tone: 'bad', state: 'Does not balance', advice }
}

function logFinding({ anchors, log }: StatusAnswer): Finding {
  const part = 'Log'
  if (anchors.status === 'diverged') {
    const advice =
      'The chain has a different history: this database is an old copy. Restore the newest one, ' +
      'or abandon this log: counterfoil log reopen --reason "…"'
    return { part, tone: 'bad', state: 'Diverged', advice }
  }
  if (log.damaged_leaf !== undefined) {
    const advice = 'Run: counterfoil doctor. Then see docs/signer.md, "A leaf that is damaged".'
    return { part, tone: 'bad', state: `Leaf ${log.damaged_leaf} is damaged`, advice }
  }
  if (log.size === null) {
    return { part, tone: 'wait', state: 'Unknown', advice: 'The database did not report it.' }
  }
  return { part, tone: 'ok', state: `${log.size.toLocaleString('en-US')} leaves`, advice: well }
}

function chainFinding({ chain }: StatusAnswer): Finding {
  const part = 'Chain'
  if (chain.status === 'ok') {
    return { part, tone: 'ok', state: `Block ${chain.head?.toLocaleString('en-US')}`, advice: well }
  }
  if (chain.status === 'disabled') {
    return { part, tone: 'wait', state: 'Off', advice: 'Set [chain] rpc_urls to turn it on.' }
  }
  if (chain.status === 'unchecked') {
    return { part, tone: 'wait', state: 'Not checked yet', advice: 'The first check is running.' }
  }
  const advice = 'Check [chain] rpc_urls: the server must be reachable and serve chain 4663.'
  return { part, tone: 'bad', state: wordsOf(chain.status), advice }
}

const anchorAdvice: Readonly<Record<string, string>> = {
  no_registry: 'The configured address is not a registry. Correct [anchors] registry.',
  no_funds: 'Send ETH to the sender: its balance does not cover an anchor.',
  not_owner: 'The sender does not own the log in the registry. Use the key that opened it.',
  refused: 'The registry rejected the newest head. Run: counterfoil anchor sync',
  late: 'The oldest receipt has waited twice the promised delay. Check the chain and the sender.',
  chain_unavailable: 'The chain is unreachable. Check [chain] rpc_urls.',
}

function anchorFinding({ anchors }: StatusAnswer): Finding {
  const part = 'Anchors'
  if (anchors.status === 'ok') {
    if (!anchors.sender?.low) return { part, tone: 'ok', state: 'On time', advice: well }
    return { part, tone: 'warn', state: 'Low balance', advice: 'Send ETH to the sender soon.' }
  }
  if (anchors.status === 'disabled') {
    const advice =
      'Set [chain] rpc_urls and [anchors] sender_key_file, then: counterfoil anchor deploy'
    return { part, tone: 'wait', state: 'Off', advice }
  }
  const reason = anchors.reason ?? ''
  const advice = anchorAdvice[reason] ?? 'Run: counterfoil doctor'
  return { part, tone: 'bad', state: wordsOf(reason || anchors.status), advice }
}

function depositFinding({ deposits }: StatusAnswer): Finding {
  const part = 'Deposits'
  if (deposits.status === 'ok') return { part, tone: 'ok', state: 'Credited', advice: well }
  if (deposits.status === 'disabled') {
    const advice = 'Set [chain] rpc_urls and [chain] treasury to take deposits.'
    return { part, tone: 'wait', state: 'Off', advice }
  }
  if (deposits.status === 'unchecked') {
    return { part, tone: 'wait', state: 'Not checked yet', advice: 'The first check is running.' }
  }
  const advice = deposits.reason?.startsWith('second_')
    ? 'Deposits that both RPC servers must confirm wait; none is lost. Compare the two servers.'
    : 'Deposits wait; none is lost. Check [chain] and its token.'
  return { part, tone: 'bad', state: wordsOf(deposits.reason ?? 'degraded'), advice }
}

function modelFinding({ models }: StatusAnswer): Finding {
  const part = 'Models'
  if (models.degraded + models.failing_upstreams === 0) {
    return { part, tone: 'ok', state: `${models.live} live`, advice: well }
  }
  const advice =
    'Their upstreams fail repeatedly, or refuse our key or account (401, 402, 403): see Models, ' +
    'or run: counterfoil doctor'
  const state =
    models.degraded === 0
      ? `${models.failing_upstreams} upstreams failing`
      : `${models.degraded} of ${models.live} paused`
  return { part, tone: 'bad', state, advice }
}

/** `no_funds` as words. */
const wordsOf = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
