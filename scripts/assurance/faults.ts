import { machineFaults } from './faults-machine.ts'
import { outsideFaults } from './faults-outside.ts'
import type { Fault } from './row.ts'

/** All faults, numbered in this order. */
export const faults: readonly Fault[] = [...machineFaults, ...outsideFaults]
