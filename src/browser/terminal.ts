/** The terminal with script: sends a command and follows its events. */
import { byId, element } from './dom.ts'
import { eventsOf } from './event-stream.ts'
import { addVisitReceipt } from './visit-receipts.ts'

/**
 * The terminal with script: a command goes out as JSON, an answer of a model comes as events, and
 * all of it is written as text. Without script the same form is posted, and a page answers.
 */

const form = byId('terminal-form', HTMLFormElement)
const field = byId('terminal-command', HTMLInputElement)
const screen = byId('terminal-said', HTMLElement)
const questions = byId('terminal-questions', HTMLFormElement)
const buttons = [form, questions].flatMap((one) => [...one.querySelectorAll('button')])
const commands = (field.dataset['commands'] ?? '').split(' ')

/** Answers on the screen, and commands to go back to; older ones are forgotten. */
const maxTurns = 50
const past: string[] = []
let place = 0
let draft = ''
let isRunning = false

type Allowance = { remaining: number; resets_at: string }
type Result = { lines: string[]; receipt?: { id: string }; allowance: Allowance }

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const command = field.value.trim()
  if (!isRunning && command !== '') void run(command)
})
questions.addEventListener('submit', (event) => {
  event.preventDefault()
  const { submitter } = event
  if (!isRunning && submitter instanceof HTMLButtonElement) void run(submitter.value)
})
field.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowUp') go(event, -1)
  else if (event.key === 'ArrowDown') go(event, 1)
})
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-command]') : null
  if (!(link instanceof HTMLElement) || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  field.value = link.dataset['command'] ?? ''
  field.focus()
})

/** Sends a command and shows what comes of it. */
async function run(command: string): Promise<void> {
  setRunning(true)
  note(command)
  const turn = openTurn(command)
  field.value = ''
  try {
    const error = await follow(command, turn)
    if (error !== undefined) turn.fail(error)
  } catch {
    turn.fail('The connection broke before the answer arrived. Run it again.')
  }
  if (turn.hasFailed() && field.value === '') field.value = command
  setRunning(false)
  field.focus()
}

/** Whether the answer is streamed: of an ask, and of a line that is not a command. */
function isAsked(command: string): boolean {
  const [word = ''] = command.toLowerCase().split(/\s/, 1)
  return word === 'ask' || !commands.includes(word)
}

/** Follows one command to its end; gives what the server says no with. */
async function follow(command: string, turn: Turn): Promise<string | undefined> {
  const stream = isAsked(command)
  const answer = await fetch('/v1/terminal/run', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(stream ? { command, stream } : { command }),
  })
  if (!answer.ok) return (await answer.json()).error.message
  if (!stream) {
    turn.end(await answer.json())
    return undefined
  }
  for await (const data of eventsOf(answer)) {
    const event = JSON.parse(data)
    if (event.error) return event.error.message
    if (event.type === 'run.output.delta') turn.add(event.text)
    else if (event.type === 'run.completed') {
      turn.end(event.result)
      return undefined
    }
  }
  throw new Error('the stream ended before its answer')
}

type Turn = ReturnType<typeof openTurn>

/** A command and the place for its answer, at the end of the screen. */
function openTurn(command: string) {
  document.getElementById('terminal-greeting')?.remove()
  const text = document.createTextNode('')
  const out = element('pre', { class: 'out going' }, text)
  const turn = element('div', {}, element('p', { class: 'asked' }, command), out)
  screen.append(turn)
  while (screen.childElementCount > maxTurns) screen.firstElementChild?.remove()
  scroll()
  let isBad = false
  return {
    add(piece: string): void {
      text.appendData(piece)
      scroll()
    },
    end({ lines, receipt, allowance }: Result): void {
      text.data = lines.join('\n')
      out.classList.remove('going')
      if (receipt) {
        turn.append(nextOf(receipt.id))
        document.dispatchEvent(new CustomEvent('counterfoil:asked', { detail: receipt.id }))
      }
      byId('terminal-allowance', HTMLElement).textContent = allowanceText(allowance)
      scroll()
    },
    /** The text until then stays. */
    fail(message: string): void {
      isBad = true
      out.classList.remove('going')
      if (text.data === '') out.remove()
      turn.append(element('pre', { class: 'out bad', role: 'alert' }, message))
      scroll()
    },
    hasFailed: (): boolean => isBad,
  }
}

function nextOf(receiptId: string): HTMLElement {
  const href = `/receipts/${receiptId}`
  addVisitReceipt({ href, name: `${receiptId.slice(0, 9)}…${receiptId.slice(-6)}` })
  const open = element('a', { href }, 'Open the receipt')
  const checks = element('span', { class: 'quiet' }, 'Your own browser checks it there.')
  return element('p', { class: 'next row torn' }, open, checks)
}

const allowanceText = ({ remaining, resets_at: resetsAt }: Allowance): string =>
  `${remaining} ${remaining === 1 ? 'ask' : 'asks'} left today; ` +
  `new ones at ${resetsAt.slice(11, 16)} UTC.`

/** Goes back and forth in what was written here; the line that was not sent comes last. */
function go(event: KeyboardEvent, step: -1 | 1): void {
  const next = place + step
  if (next < 0 || next > past.length) return
  event.preventDefault()
  if (place === past.length) draft = field.value
  place = next
  field.value = past[place] ?? draft
  field.setSelectionRange(field.value.length, field.value.length)
}

function note(command: string): void {
  if (past.at(-1) !== command) past.push(command)
  if (past.length > maxTurns) past.shift()
  place = past.length
  draft = ''
}

function setRunning(is: boolean): void {
  isRunning = is
  for (const button of buttons) button.disabled = is
  screen.setAttribute('aria-busy', String(is))
}

function scroll(): void {
  screen.scrollTop = screen.scrollHeight
}
