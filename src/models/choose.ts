/** Decides in which order the steps of a route are asked. */
import type { Balance, RouteStep } from './model.ts'

/** The facts of a step when a request comes. */
export type StepState = {
  /** Whether its server is asked at all: its circuit is not open, and a key of ours is there. */
  isReady: boolean
  /** The mean time to its first token in ms; undefined until one came. */
  latencyMs: number | undefined
  /** Requests that it has or that wait for it. */
  load: number
  /** The bound of what this request costs the operator there; undefined if that is not known. */
  cost: bigint | undefined
}

/** Finds the facts of the steps, and draws numbers of 0 to 1, below 1. */
export type ChooseState = {
  balance: Balance
  random: () => number
  of: (step: RouteStep) => StepState
}

/** One request in so many is sent to a step that is not the fastest, so that it is seen again. */
const exploredOnceIn = 50

/**
 * All steps, each once, in the order in which they are tried. Groups stay in the order of the
 * route; a step without a weight is a group of its own. In a group those that are not ready come
 * last, and the step that has the conversation's cache comes first while it is ready.
 */
export function choose(
  steps: readonly RouteStep[],
  state: ChooseState,
  cached?: RouteStep | undefined,
): RouteStep[] {
  const order: RouteStep[] = []
  for (const group of groupsOf(steps)) {
    if (group.length === 1 || state.balance === 'order') order.push(...group)
    else order.push(...orderOf(group, state, cached))
  }
  return order
}

function groupsOf(steps: readonly RouteStep[]): RouteStep[][] {
  const groups: RouteStep[][] = []
  let open: RouteStep[] | undefined
  for (const step of steps) {
    if (step.weight === undefined) {
      groups.push([step])
      open = undefined
    } else if (open) open.push(step)
    else {
      open = [step]
      groups.push(open)
    }
  }
  return groups
}

type Candidate = StepState & { step: RouteStep; rank: number }

function orderOf(group: RouteStep[], state: ChooseState, cached?: RouteStep): RouteStep[] {
  const { balance, random, of } = state
  const compare = comparisons[balance]
  const known = group.map((step): Candidate => {
    // The rank of a weighted draw without replacement (Efraimidis and Spirakis), lowest first.
    const rank = -Math.log(1 - random()) / (step.weight ?? 1)
    return { ...of(step), step, rank }
  })
  const sorted = known.toSorted(
    (a, b) => Number(b.isReady) - Number(a.isReady) || compare(a, b) || a.rank - b.rank,
  )
  const [first] = sorted
  const held = sorted.find(({ step, isReady }) => isReady && step === cached)
  if (held) return withFirst(sorted, held)
  if (balance === 'latency' && first?.isReady && random() * exploredOnceIn < 1) {
    const others = sorted.filter((one) => one !== first && one.isReady)
    const seen = others[Math.floor(random() * others.length)]
    if (seen) return withFirst(sorted, seen)
  }
  return sorted.map(({ step }) => step)
}

const withFirst = (sorted: readonly Candidate[], first: Candidate): RouteStep[] => [
  first.step,
  ...sorted.filter((one) => one !== first).map(({ step }) => step),
]

/** The comparison of each way to balance; equals are drawn by their weights. */
const comparisons: Record<Balance, (a: Candidate, b: Candidate) => number> = {
  order: () => 0,
  weight: () => 0,
  latency: (a, b) => compareKnown(a.latencyMs, b.latencyMs),
  cost: (a, b) => compareKnown(a.cost, b.cost),
  'least-busy': (a, b) => a.load / (a.step.weight ?? 1) - b.load / (b.step.weight ?? 1),
}

/** A value that is not known is above any other. */
function compareKnown<T extends number | bigint>(a: T | undefined, b: T | undefined): number {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  return a < b ? -1 : 1
}
