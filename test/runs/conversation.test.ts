import { expect, test } from 'bun:test'
import { ConversationPanel } from '../../src/runs/portal/run-conversation.tsx'

const panelOf = (messages: object[], output: object[] = []) =>
  String(
    ConversationPanel({
      run: { outcome: 'complete', cost: 0n } as never,
      kept: {
        ...{ retention: '30d', otherHref: '/', isJson: false, curl: '' },
        texts: { input: { messages }, output } as never,
      },
    }),
  )

test('Markdown is drawn for the newest answers of a long talk, and older ones are shown as they came.', () => {
  const content = '*a* '.repeat(5000)
  const html = panelOf(Array.from({ length: 60 }, () => ({ role: 'assistant', content })))
  const drawn = html.split('<div class="it done">').length - 1
  expect(drawn).toBe(3)
  expect(html.split('class="it done told"').length - 1).toBe(57)
})

test.each(['constructor', '__proto__', 'toString'])(
  'A message of the role %s is shown under that name.',
  (role) => {
    expect(panelOf([{ role, content: 'hi' }])).toContain(`<p class="side">${role}</p>`)
  },
)
