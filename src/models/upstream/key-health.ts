/** How a key of an upstream fares, for its operator. */
import type { Fault } from './operator-fault.ts'

/** A key as the operator sees it. */
export type KeyHealth = {
  name: string
  weight: number
  /** `denied`: it or its account is not taken. `limited`: it rests after 429. */
  status: 'ok' | 'limited' | 'denied'
  /** Undefined while it is taken. */
  fault: Fault | undefined
}
