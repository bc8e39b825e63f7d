/**
 * What test files of a copy import in place of `bun:test`: it keeps what they declare, so that one
 * process runs any of it any number of times.
 */
import { expect, spyOn } from 'bun:test'

export { expect, spyOn }

type Step = () => unknown

export type Case = { id: string; run: Step }

export type Suite = {
  parts: (Case | Suite)[]
  beforeAll: Step[]
  afterAll: Step[]
  beforeEach: Step[]
  afterEach: Step[]
}

const emptySuite = (): Suite => ({
  parts: [],
  beforeAll: [],
  afterAll: [],
  beforeEach: [],
  afterEach: [],
})

let current = emptySuite()
let file = ''
let count = 0

/** Loads a test file and returns what it declares. */
export async function loadSuite(root: string, path: string): Promise<Suite> {
  current = emptySuite()
  file = path
  count = 0
  const suite = current
  await import(`${root}/${path}`)
  return suite
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments are whatever the rows of a table hold.
type Body = (...values: any[]) => unknown

function declareSuite(_: string, body: Body, values: unknown[] = []): void {
  const above = current
  const suite = emptySuite()
  above.parts.push(suite)
  current = suite
  body(...values)
  current = above
}

function declareCase(_: string, body: Body, values: unknown[] = []): void {
  count += 1
  current.parts.push({ id: `${file}#${count}`, run: () => body(...values) })
}

type Declare = (title: string, body: Body, values?: unknown[]) => void

function withVariants(declare: Declare) {
  const plain = (title: string, body: Body) => declare(title, body)
  const each = (rows: readonly unknown[]) => (title: string, body: Body) => {
    for (const row of rows) declare(title, body, Array.isArray(row) ? row : [row])
  }
  const skipIf = (skipped: unknown) => {
    const unless = (title: string, body: Body) => {
      if (!skipped) declare(title, body)
    }
    return Object.assign(unless, {
      each: (rows: readonly unknown[]) => (skipped ? () => {} : each(rows)),
    })
  }
  return Object.assign(plain, { each, skipIf })
}

export const describe = withVariants(declareSuite)
export const test = withVariants(declareCase)

export const beforeAll = (step: Step) => void current.beforeAll.push(step)
export const afterAll = (step: Step) => void current.afterAll.push(step)
export const beforeEach = (step: Step) => void current.beforeEach.push(step)
export const afterEach = (step: Step) => void current.afterEach.push(step)
export const setDefaultTimeout = () => {}
