import type { Case, Suite } from './shim.ts'

/** Why a run of tests is not good: `late` when something did not end, `id` names the test. */
export type Failure = { id: string; late: boolean; error: unknown }

export type Watch = {
  /** Before and after a test, and before and after what is prepared for several. */
  begin(): void
  endCase(id: string, ms: number): void
  endShared(ids: readonly string[]): void
}

/** Runs the chosen tests of a suite in their order until one fails, with all that they need. */
export async function runSuite(
  suite: Suite,
  chosen: (id: string) => boolean,
  limitMs: number,
  watch?: Watch,
  around: readonly Suite[] = [],
): Promise<Failure | undefined> {
  const ids = idsOf(suite).filter(chosen)
  if (ids.length === 0) return undefined
  const first = ids[0] ?? ''
  const chain = [...around, suite]
  watch?.begin()
  let failure = await runSteps(suite.beforeAll, first, limitMs)
  watch?.endShared(ids)
  if (!failure) {
    for (const part of suite.parts) {
      failure =
        'run' in part
          ? chosen(part.id)
            ? await runCase(part, chain, limitMs, watch)
            : undefined
          : await runSuite(part, chosen, limitMs, watch, chain)
      if (failure) break
    }
  }
  watch?.begin()
  const atEnd = await runSteps(suite.afterAll, first, limitMs)
  watch?.endShared(ids)
  return failure ?? atEnd
}

export const idsOf = (suite: Suite): string[] =>
  suite.parts.flatMap((part) => ('run' in part ? part.id : idsOf(part)))

async function runCase(
  { id, run }: Case,
  chain: readonly Suite[],
  limitMs: number,
  watch?: Watch,
): Promise<Failure | undefined> {
  const started = performance.now()
  watch?.begin()
  const before = chain.flatMap(({ beforeEach }) => beforeEach)
  const after = chain.toReversed().flatMap(({ afterEach }) => afterEach)
  const failure = await runSteps([...before, run], id, limitMs)
  const atEnd = await runSteps(after, id, limitMs)
  watch?.endCase(id, performance.now() - started)
  return failure ?? atEnd
}

async function runSteps(
  steps: readonly (() => unknown)[],
  id: string,
  limitMs: number,
): Promise<Failure | undefined> {
  for (const step of steps) {
    const failure = await runStep(step, id, limitMs)
    if (failure) return failure
  }
  return undefined
}

async function runStep(
  step: () => unknown,
  id: string,
  limitMs: number,
): Promise<Failure | undefined> {
  let timer: Timer | undefined
  const late = new Promise<Failure>((resolve) => {
    timer = setTimeout(() => resolve({ id, late: true, error: 'late' }), limitMs)
  })
  const ran = (async (): Promise<Failure | undefined> => {
    try {
      await step()
      return undefined
    } catch (error) {
      return { id, late: false, error }
    }
  })()
  const failure = await Promise.race([ran, late])
  clearTimeout(timer)
  return failure
}
