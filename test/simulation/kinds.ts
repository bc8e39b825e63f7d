import type { Command, Sim } from './command.ts'
import { askBalance, call, prove } from './commands-doors.ts'
import { drop, pollRun, readTexts, runBehind, setTexts } from './commands-kept.ts'
import { change, mint, pause, revoke } from './commands-keys.ts'
import { cancel, jump, passSequencer, recover, storeOld, sweep } from './commands-life.ts'
import {
  assign,
  buyPlan,
  endPlan,
  grant,
  look,
  moveChain,
  renewPlans,
  suspend,
} from './commands-money.ts'
import { beginQuoted, quote } from './commands-quotes.ts'
import { beginRun, chunk, endRun, failRun, hangUp, stopRun } from './commands-runs.ts'
import { rotate, rotateTwice, useOld } from './commands-secrets.ts'
import { issue, redeem, refund } from './commands-selling.ts'

/** How often each kind comes, in parts of all. */
const kinds: [number, (sim: Sim) => Command | undefined][] = [
  [24, beginRun],
  [16, chunk],
  [16, endRun],
  [6, failRun],
  [3, stopRun],
  [5, hangUp],
  [2, cancel],
  [5, mint],
  [4, change],
  [3, pause],
  [1, revoke],
  [4, grant],
  [1, suspend],
  [2, buyPlan],
  [1, endPlan],
  [1, renewPlans],
  [5, moveChain],
  [4, look],
  [1, assign],
  [2, jump],
  [3, sweep],
  [4, storeOld],
  [1, recover],
  [2, passSequencer],
  [5, call],
  [1, askBalance],
  [1, prove],
  [3, rotate],
  [1, rotateTwice],
  [3, useOld],
  [6, runBehind],
  [3, pollRun],
  [1, setTexts],
  [1, readTexts],
  [2, drop],
  [1, issue],
  [4, redeem],
  [4, refund],
  [1, quote],
  [4, beginQuoted],
]
/** To pick the next command from. */
export const bag = kinds.flatMap(([parts, make]) => Array.from({ length: parts }, () => make))
