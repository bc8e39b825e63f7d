/** Raises the hold of an open run whose model server turned out to take no limit. */
import { min, type Nusd, toJsonInteger, toUsd } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import { notAStatus } from '../kernel/status-safe.ts'
import type { KeyRow, RunRow, WindowRow } from '../storage/db/schema/schema.ts'
import { brakesOf } from './brake.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/**
 * Takes what is missing from the account and from the windows that the hold was taken from.
 * @param open the run as its process has it
 * @param chain the key that asks and all above it
 * @param hold the new hold, in nano-USD
 * @throws Refusal `cap_exceeded` or `insufficient_balance`, before any change
 */
export function raiseHold(
  unit: UnitOfWork,
  open: RunRow,
  chain: readonly KeyRow[],
  hold: Nusd,
): void {
  const run = unit.run(open.id)
  const account = unit.account(open.accountId)
  if (!run || !account) throw new Error(`run ${open.id} is not open`)
  const more = hold - run.hold
  if (more <= 0n) return
  const windows = run.windows.map(([keyId, start]) => unit.windowAt(keyId, start))
  // A brake may be lower than when the run began; its window says so with the next hold.
  const brakes = chain.flatMap((key) => brakesOf(key, unit.now).map((one) => ({ key, ...one })))
  const limitOf = ({ keyId, windowStart, limit }: WindowRow): Nusd => {
    const brake = brakes.find(({ key, start }) => key.id === keyId && start === windowStart)
    return brake ? min(limit, brake.limit) : limit
  }
  const room = (window: WindowRow): Nusd => limitOf(window) - window.spent - window.held
  const full = windows.find((window) => room(window) < more)
  const narrow = chain.find(({ maxCostPerRun }) => maxCostPerRun !== null && maxCostPerRun < hold)
  if (full) refuseRaise('cap_exceeded', hold, run.hold + room(full), full.keyId)
  if (narrow) refuseRaise('cap_exceeded', hold, narrow.maxCostPerRun ?? 0n, narrow.id)
  const balance = account.balance - account.held
  if (balance < more) refuseRaise('insufficient_balance', hold, run.hold + balance)
  account.held += more
  unit.changed('account', account)
  for (const window of windows) {
    window.held += more
    unit.changed('window', window)
  }
  unit.setHold(run, open, hold)
}

function refuseRaise(
  type: 'cap_exceeded' | 'insufficient_balance',
  required: Nusd,
  available: Nusd,
  keyId?: string,
): never {
  const purse = keyId === undefined ? 'the balance' : `key ${keyId}`
  refuse(type, {
    message:
      'The model server takes no limit of the answer, so this run may cost ' +
      `${notAStatus(toUsd(required))} USD, and ${purse} has ${notAStatus(toUsd(available))} USD ` +
      'left for it. Use another model, or raise what is there. Nothing was charged.',
    metadata: {
      limited_by: keyId === undefined ? 'balance' : 'key',
      blocking_key_id: keyId ?? null,
      required_nusd: toJsonInteger(required),
      required_usd: notAStatus(toUsd(required)),
      available_nusd: toJsonInteger(available),
      available_usd: notAStatus(toUsd(available)),
    },
  })
}
