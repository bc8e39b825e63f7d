import { expect, test } from 'bun:test'
import { pageOf, placesOfCommands } from '../../scripts/free-writes.ts'
import { promise } from '../support/promise.ts'

promise`T3`
test('docs/unpaid.md lists what every command stores, and whether the budget refuses it', async () => {
  expect(await Bun.file('docs/unpaid.md').text()).toBe(pageOf(await placesOfCommands()))
})

test('all that an account may repeat without paying is refused once its budget is used up', async () => {
  const refused = (await placesOfCommands()).filter(({ treats }) => treats !== 'taken')
  const files = refused.map(({ file }) => file)
  for (const name of ['issue', 'rotate', 'change', 'resume', 'make-quote', 'invite', 'begin']) {
    expect(
      files.some((file) => file.endsWith(`/${name}.ts`)),
      name,
    ).toBeTrue()
  }
})
