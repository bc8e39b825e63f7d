import { expect, spyOn, test } from 'bun:test'
import { deadlineIn } from '../../src/kernel/deadline.ts'

const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('those of one length come due in the order in which they were set', async () => {
  const told: string[] = []
  for (const name of ['a', 'b', 'c']) deadlineIn(20, () => told.push(name))
  while (told.length < 3) await soon(5)
  expect(told).toEqual(['a', 'b', 'c'])
})

test('never before its time, also behind one that was cleared', async () => {
  const first = deadlineIn(30, () => expect.unreachable())
  await soon(10)
  const begun = performance.now()
  const { promise, resolve } = Promise.withResolvers<number>()
  deadlineIn(30, () => resolve(performance.now() - begun))
  first.clear()
  expect(await promise).toBeGreaterThanOrEqual(29.9)
})

test('one that is cleared is not done, however often and whenever that is', async () => {
  const told: string[] = []
  const cleared = deadlineIn(15, () => told.push('cleared'))
  cleared.clear()
  cleared.clear()
  const over = deadlineIn(15, () => told.push('over'))
  while (told.length < 1) await soon(5)
  over.clear()
  expect(told).toEqual(['over'])
})

test('one that is refreshed has all its time again, before and after it was over', async () => {
  const told: string[] = []
  const first = deadlineIn(25, () => told.push('first'))
  deadlineIn(25, () => told.push('second'))
  first.refresh()
  while (told.length < 2) await soon(5)
  expect(told).toEqual(['second', 'first'])
  first.refresh()
  while (told.length < 3) await soon(5)
  expect(told).toEqual(['second', 'first', 'first'])
})

test('what one does may set, refresh and clear others', async () => {
  const told: string[] = []
  deadlineIn(12, () => {
    told.push('one')
    two.clear()
    deadlineIn(12, () => told.push('three'))
  })
  const two = deadlineIn(12, () => told.push('two'))
  while (told.length < 2) await soon(5)
  expect(told).toEqual(['one', 'three'])
})

test('one timer serves them all, also when what is due sets another one', async () => {
  let count = 0
  const again = () => {
    if (count++ < 60) deadlineIn(7, again)
  }
  const timers = spyOn(globalThis, 'setTimeout')
  for (let i = 0; i < 5; i++) deadlineIn(7, again)
  while (count < 60) await soon(5)
  const set = timers.mock.calls.filter(([, ms]) => ms !== 5).length
  timers.mockRestore()
  expect(set).toBeLessThan(60)
})
