import { expect, test } from 'bun:test'
import { draftOfRun } from '../../../src/front/console/api/run-draft.ts'

test('A talk with tools, several questions and a developer opens with each answer below its question.', async () => {
  const said = (role: string, content: string) => ({ role, content })
  const messages = [
    said('developer', 'Be brief.'),
    said('assistant', 'Hello.'),
    said('user', 'first'),
    said('user', 'second'),
    said('assistant', 'Let me look.'),
    said('tool', 'rain'),
    said('assistant', 'It rains.'),
    said('user', 'third'),
  ]
  const run = { id: `run_${'0'.repeat(26)}`, model: 'acme/small' }
  const deps = {
    runs: { findShown: async () => ({ run }) },
    texts: { find: async () => ({ input: { messages }, output: null }) },
  }
  const draft = await draftOfRun(deps as never, {} as never, run.id)
  expect(draft?.system).toBe('Be brief.')
  expect(draft?.input).toBe('third')
  expect(draft?.turns?.map(({ input, output }) => [input, output])).toEqual([
    ['first', ''],
    ['second', 'Let me look.\n\nIt rains.'],
  ])
})
