/** The console with script: sends a question and follows its events. */

import { type Fault, wordsOf } from '../front/console/fault-words.ts'
import type { SentFile } from '../front/console/files.ts'
import {
  type ConsoleQuestion,
  commandIn,
  curlOf,
  earlierFiles,
  mostOf,
  piecesOf,
  readTariff,
  recentTurns,
  type Turn,
  usualTokensOf,
} from '../front/console/talk.ts'
import { systemClock } from '../kernel/clock.ts'
import { toUsd } from '../kernel/money.ts'
import { replyOf } from '../models/answers/answer-parts.ts'
import { answerPanel, shortId } from './console-answer.ts'
import { type ChosenFile, filePicker } from './console-files.ts'
import { keyParts } from './console-key.ts'
import { asPiece } from './console-parts.ts'
import { byId, element } from './dom.ts'
import { eventsOf } from './event-stream.ts'
import { type KeptTurn, keptTalk } from './kept-talk.ts'

/**
 * The console with script: a question goes out as JSON, its answer comes as events and is written
 * with its Markdown. Without script the same form is posted, and the answer is a page.
 */

const form = byId('ask', HTMLFormElement)
const talk = byId('talk', HTMLElement)
const model = byId('model', HTMLSelectElement)
const message = byId('input', HTMLTextAreaElement)
const stop = byId('stop', HTMLButtonElement)
const send = form.querySelector<HTMLButtonElement>('button[type="submit"]')
const turnsField = form.elements.namedItem('turns') as HTMLInputElement
let turns: Turn[] = JSON.parse(turnsField.value)
const kept = keptTalk(talk)
const putKey = keyParts((message) => tell({ type: '', message }))
const files = filePicker(chosenModel, () => foresee())
let running: { abort: AbortController; id: string | undefined; sofar: () => KeptTurn } | undefined

form.addEventListener('submit', (event) => {
  event.preventDefault()
  if (running || message.value.trim() === '') return
  const command = commandIn(message.value)
  if (command !== undefined) void runCommand(command)
  else if (files.check({ earlier: earlierFiles(readAsk()) })) void ask()
})
form.addEventListener('input', foresee)
model.addEventListener('input', () => {
  files.describe()
  foresee()
})
message.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.isComposing || event.shiftKey) return
  // A screen keyboard has no other key for a new line.
  if (!matchMedia('(hover: hover)').matches && !event.ctrlKey && !event.metaKey) return
  event.preventDefault()
  form.requestSubmit()
})
byId('new-chat', HTMLElement).addEventListener('click', kept.forget)
document.querySelector('form.who')?.addEventListener('submit', kept.forget)
stop.addEventListener('click', () => void stopRun())
document.getElementById('example')?.addEventListener('click', (event) => {
  event.preventDefault()
  const link = (event.target as Element).closest('a')
  message.value = new URL(link?.href ?? '', location.href).searchParams.get('input') ?? ''
  message.focus()
  foresee()
})
files.describe()
const query = new URLSearchParams(location.search)
if (turns.length === 0 && !['input', 'talk', 'run'].some((name) => query.has(name))) restoreTalk()
foresee()
addEventListener('pagehide', () => running && kept.add(running.sofar()))

/** Shows the talk that this tab had before it was loaded again. */
function restoreTalk(): void {
  const before = kept.restore()
  if (before.length === 0) return
  document.getElementById('nothing')?.remove()
  turns = recentTurns(before, files.room)
  turnsField.value = JSON.stringify(turns)
}

/** Sends what is written and shows what comes of it. */
async function ask(): Promise<void> {
  const asked = readAsk()
  const abort = new AbortController()
  document.getElementById('nothing')?.remove()
  tell(undefined)
  const panel = answerPanel(talk, asked, numberOf('output'))
  const { input, model: by, files: sent } = asked
  const sofar = (): KeptTurn => ({
    ...{ input, model: by, ...panel.ended(), isAside: true },
    ...(sent && { files: sent }),
  })
  running = { abort, id: undefined, sofar }
  setRunning(true)
  showCall(asked)
  message.value = ''
  files.put([])
  try {
    const { fault, turn } = await follow(asked, abort.signal, panel)
    if (fault) fail(fault, asked)
    if (turn) turns = recentTurns([...turns, turn], files.room)
    panel.end(fault === undefined, isOwn(fault))
    kept.add(turn ? { ...turn, ...panel.ended() } : sofar())
  } catch {
    panel.end(false, abort.signal.aborted)
    kept.add(sofar())
    fail({ type: '', message: abort.signal.aborted ? hungUpWords : lostWords }, asked)
  }
  turnsField.value = JSON.stringify(turns)
  running = undefined
  setRunning(false)
  foresee()
  void putKey()
}

/** Asks the server instead of a model, and shows its lines; it costs nothing. */
async function runCommand(command: string): Promise<void> {
  document.getElementById('nothing')?.remove()
  tell(undefined)
  const input = message.value
  message.value = ''
  try {
    const answer = await fetch('/api/portal/console/command', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ command }),
    })
    const result = await answer.json()
    if (!answer.ok) return fail(result.error, { input })
    const told = element('p', { class: 'it done told' }, result.lines.join('\n'))
    talk.append(element('p', { class: 'you' }, input), told)
    kept.add({ input, output: result.lines.join('\n'), isAside: true, isCommand: true })
    talk.scrollTop = talk.scrollHeight
  } catch {
    fail({ type: '', message: 'The connection broke. Run it again.' }, { input })
  }
}

const lostWords =
  'The connection broke and ended the run. What it used up to then is charged: see Runs.'

const hungUpWords = 'You stopped before the server confirmed a start: see Runs.'

type Panel = ReturnType<typeof answerPanel>

/** Follows one run to its end; what the server says no to is a fault, a broken line throws. */
async function follow(
  asked: ConsoleQuestion,
  signal: AbortSignal,
  panel: Panel,
): Promise<{ turn?: Turn; fault?: Fault }> {
  const startedAt = systemClock.monotonic()
  const answer = await fetch(form.action, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(asked),
    signal,
  })
  if (!answer.ok) return { fault: (await answer.json()).error }
  for await (const data of eventsOf(answer)) {
    const event = JSON.parse(data)
    if (event.error) {
      panel.charge(event.error.metadata)
      return { fault: event.error }
    }
    const ms = systemClock.monotonic() - startedAt
    switch (event.type) {
      case 'run.started':
        if (running) running.id = event.run_id
        panel.start(event)
        break
      case 'run.output.delta':
        panel.add(event.text, ms)
        break
      case 'run.reasoning.delta':
        panel.addReasoning(event.text, ms)
        break
      case 'run.tool_call.delta':
        panel.addCall(event, ms)
        break
      case 'run.completed':
        return { turn: turnOf(asked, await panel.complete(event.run)) }
    }
  }
  throw new Error('the stream ended before its run')
}

function turnOf(
  asked: ConsoleQuestion,
  { answer, message }: Awaited<ReturnType<Panel['complete']>>,
): Turn {
  const reply = replyOf(message)
  return {
    ...{ input: asked.input, output: answer.text, model: asked.model },
    ...(asked.files && { files: asked.files }),
    ...(reply && { reply }),
  }
}

/** Ends the run and lets its stream say what it cost; before it began, drops the request. */
async function stopRun(): Promise<void> {
  stop.disabled = true
  if (running?.id === undefined) return running?.abort.abort()
  const cancelled = await fetch(`/api/portal/runs/${running.id}/cancel`, {
    method: 'POST',
    headers: { accept: 'application/json' },
  }).catch(() => undefined)
  // On another node, or on no line: hanging up stops it too.
  if (!cancelled?.ok) running?.abort.abort()
}

/** Shows why there is no answer, and keeps the question to be sent again. */
function fail(fault: Fault, asked: { input: string; files?: readonly SentFile[] }): void {
  if (message.value === '') message.value = asked.input
  if (asked.files && files.list().length === 0) files.put(asked.files)
  tell(fault)
}

/** Their own Stop ends a run as its answer does. */
const isOwn = (fault: Fault | undefined): boolean => fault?.type === 'conflict'

/** A note at the end of the talk, or none. */
function tell(fault: Fault | undefined): void {
  const trouble = byId('trouble', HTMLElement)
  trouble.hidden = fault === undefined
  if (!fault) return
  talk.append(trouble)
  trouble.querySelector('.note')?.classList.toggle('bad', !isOwn(fault))
  const { what, charged, receiptId } = wordsOf(fault)
  byId('trouble-what', HTMLElement).textContent = what
  byId('trouble-charged', HTMLElement).textContent = charged
  const more = byId('trouble-receipt', HTMLElement)
  more.replaceChildren()
  if (receiptId) {
    more.append('Receipt ', element('a', { href: `/receipts/${receiptId}` }, shortId(receiptId)))
  } else if (fault.type === 'session_required') {
    const href = `/signin?next=${encodeURIComponent(location.pathname)}`
    more.append(element('a', { href }, 'Sign in again'))
  }
  talk.scrollTop = talk.scrollHeight
}

function setRunning(isRunning: boolean): void {
  stop.disabled = !isRunning
  if (send) send.disabled = isRunning
  byId('retry', HTMLButtonElement).disabled = isRunning
  talk.setAttribute('aria-busy', String(isRunning))
}

function readAsk(): ConsoleQuestion {
  const fields = new FormData(form)
  const textAt = (name: string): string => String(fields.get(name) ?? '').trim()
  const most = Math.trunc(Number(textAt('max_output_tokens')))
  const limit = Number(numberOf('most'))
  const temperature = textAt('temperature')
  const system = textAt('system')
  const sent = recentTurns(turns, files.room - files.chars())
  return {
    model: model.value,
    input: message.value,
    max_output_tokens: most > 0 ? Math.min(most, limit) : usualTokensOf(limit),
    ...(temperature === '' ? {} : { params: { temperature: Number(temperature) } }),
    ...(system === '' ? {} : { system }),
    ...(files.list().length > 0 ? { files: files.list() } : {}),
    ...(sent.length > 0 ? { turns: sent } : {}),
  }
}

/** A number of the chosen model: the price of its output, its limit. */
function numberOf(name: string): bigint {
  return BigInt(model.selectedOptions[0]?.dataset[name] ?? '0')
}

/** The chosen model, and the files that it takes. */
function chosenModel(): ChosenFile {
  const { name = '', tariff } = model.selectedOptions[0]?.dataset ?? {}
  return { name, tokens: tariff ? readTariff(tariff) : {} }
}

/** Says what the question would hold, and how an agent would ask it. */
function foresee(): void {
  if (running) return
  const asked = readAsk()
  const tariff = model.selectedOptions[0]?.dataset['tariff']
  const held = tariff ? mostOf(readTariff(tariff), asked) : 0n
  byId('most', HTMLElement).textContent = `$${toUsd(held)}`
  // The call that was just made stays in sight until another one is written.
  if (asked.input.trim() !== '') showCall(asked)
}

function showCall(asked: ConsoleQuestion): void {
  const call = curlOf(form.dataset['base'] ?? location.origin, asked)
  byId('curl', HTMLElement).replaceChildren(...piecesOf(call).flatMap(asPiece))
}
