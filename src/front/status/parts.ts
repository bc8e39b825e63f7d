/** Says of each part of the service how it is, and what that means for those who use it. */
import type { Tone } from '../../web/ui/status.tsx'
import type { StatusAnswer } from './shapes.ts'

export type Part = { part: string; tone: Tone; state: string; meaning: string }

/** All parts; what stops runs comes first. */
export const partsOf = (status: StatusAnswer): Part[] => [
  models(status),
  database(status),
  ledger(status),
  receipts(status),
  anchors(status),
  chain(status),
  deposits(status),
]

function models({ models: { live, degraded, failing_upstreams } }: StatusAnswer): Part {
  const part = 'Models'
  if (degraded === 0 && failing_upstreams > 0) {
    const meaning = 'A server of some models fails; others take their runs.'
    return { part, tone: 'warn', state: `${live} live`, meaning }
  }
  if (degraded === 0) {
    return { part, tone: 'ok', state: `${live} live`, meaning: 'Runs are taken.' }
  }
  const meaning = 'Runs of these models are refused while their servers fail. Nothing is charged.'
  return { part, tone: 'warn', state: `${degraded} of ${live} paused`, meaning }
}

function database({ database: { status } }: StatusAnswer): Part {
  const part = 'Database'
  if (status === 'ok') return { part, tone: 'ok', state: 'Online', meaning: 'Runs are stored.' }
  if (status === 'read_only') {
    const meaning = 'New runs are refused. Stored runs and receipts can be read.'
    return { part, tone: 'bad', state: 'Read-only', meaning }
  }
  return { part, tone: 'bad', state: 'Down', meaning: 'Runs are refused. Nothing is charged.' }
}

function ledger({ ledger: state }: StatusAnswer): Part {
  const part = 'Ledger'
  if (state === 'balanced') {
    const meaning = 'Every balance follows from its journal.'
    return { part, tone: 'ok', state: 'Balanced', meaning }
  }
  if (state === 'checking') {
    return { part, tone: 'wait', state: 'Checking', meaning: 'The first audit is running.' }
  }
  const meaning = 'A balance differs from its journal. The operator was told.'
  return { part, tone: 'bad', state: 'Does not balance', meaning }
}

function receipts({ log: { status } }: StatusAnswer): Part {
  const part = 'Receipts'
  if (status === 'diverged') {
    const meaning = 'The log lacks receipts that it signed. Runs and receipts are paused.'
    return { part, tone: 'bad', state: 'Log diverged', meaning }
  }
  if (status === 'unchecked') {
    const meaning = 'The log is being compared to what is known to be signed.'
    return { part, tone: 'wait', state: 'Checking', meaning }
  }
  const meaning = 'Each run is signed and logged within seconds.'
  return { part, tone: 'ok', state: 'Signed and logged', meaning }
}

const off = (part: string, meaning: string): Part => ({ part, tone: 'wait', state: 'Off', meaning })

const unchecked = (part: string): Part => {
  return { part, tone: 'wait', state: 'Not checked yet', meaning: 'The first check is running.' }
}

function anchors({ anchors: { status } }: StatusAnswer): Part {
  const part = 'Anchors'
  if (status === 'ok') {
    const meaning = 'The root of the log goes to the chain on time.'
    return { part, tone: 'ok', state: 'On time', meaning }
  }
  if (status === 'disabled') return off(part, 'The log of this service is not anchored on a chain.')
  if (status === 'unchecked') return unchecked(part)
  const meaning = 'Receipts are still signed and logged; they reach the chain later.'
  return { part, tone: 'warn', state: 'Late', meaning }
}

function chain({ chain: { status, head } }: StatusAnswer): Part {
  const part = 'Chain'
  if (status === 'ok') {
    const block = head === null || head === undefined ? '' : head.toLocaleString('en-US')
    return { part, tone: 'ok', state: `Block ${block}`, meaning: 'The chain can be reached.' }
  }
  if (status === 'disabled') return off(part, 'This service uses no chain.')
  if (status === 'unchecked') return unchecked(part)
  const meaning = 'Deposits and anchors wait; runs go on.'
  return { part, tone: 'warn', state: 'Unreachable', meaning }
}

function deposits({ deposits: { status } }: StatusAnswer): Part {
  const part = 'Deposits'
  if (status === 'ok') {
    return { part, tone: 'ok', state: 'Credited', meaning: 'Transfers are seen and credited.' }
  }
  if (status === 'disabled') return off(part, 'The operator of this service grants credit.')
  if (status === 'unchecked') return unchecked(part)
  return { part, tone: 'warn', state: 'Waiting', meaning: 'Deposits wait; none is lost.' }
}
