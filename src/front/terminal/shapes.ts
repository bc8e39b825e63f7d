/** The body and the answer of the terminal. */
import * as t from '../../web/http/shape.ts'

const echo = 'counterfoil/echo-1'

export const terminalBody = t.body(
  'TerminalRequest',
  'A line of the language, or a question: one of them.',
  {
    'command?': t.text('`help` lists all there are.', 'ask Every run leaves a receipt.'),
    'input?': t.text('The question of an `ask`, at most 2 KiB.', 'Every run leaves a receipt.'),
    'model?': t.text('For an `ask` by `input`: a model with `terminal: true`.', echo),
    'stream?': t.flag('For an `ask`: whether the answer comes in pieces.', false),
  },
  { examples: [{ command: 'models' }] },
)

export const terminalResultShape = t.answer('TerminalResult', 'What a command says.', {
  object: t.only('terminal.result'),
  command: t.text('Its name.', 'ask'),
  lines: t.list(t.text('', 'Every run leaves a receipt.'), 'For people.'),
  data: t.anything('For programs: what `/v1` answers to the same.', {}),
  'receipt?': t.object('The receipt of an `ask`, which the service paid for.', {
    id: t.id('rcpt', 'Id of the receipt.'),
    digest: t.hash('What was signed.'),
    url: t.text('The receipt file.', 'https://gw.example/v1/receipts/rcpt_…'),
    cost_nusd: t.nusd('What the service paid.', 4650),
    visibility: t.only('unlisted'),
    page: t.text('Its page.', 'https://gw.example/receipts/rcpt_…'),
  }),
  allowance: t.object('Asks that the network of the caller has left today.', {
    remaining: t.count('How many.', 9),
    resets_at: t.time('When the next day begins.'),
  }),
})

/** The body of `POST /api/portal/console/command`. */
export const commandBody = t.body('ConsoleCommand', 'A command of the console.', {
  command: t.text('A line of the terminal’s language; `help` lists the commands.', 'runs'),
})
