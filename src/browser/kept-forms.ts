/** Keeps a form over a session that ended, for its account and this tab alone. */
import { element } from './dom.ts'

type KeptForm = {
  /** The page that has the form. */
  path: string
  /** The wallet that typed; the fields are shown to no other. */
  account: string
  action: string
  fields: [name: string, value: string][]
  /** The sign-in was asked for instead of the answer. */
  isOver?: true
}

const keptKey = 'counterfoil.form'
const signIn = '/signin'
/** Fields whose value is worth something by itself. */
const secretNames = /(^|_)(secret|token|password|signature|code)$/

/** The page in the side panel, whose form has another address than the page below. */
let inPanel: string | undefined

type HtmxRequest = { request: { action: string }; target?: unknown; response?: { status: number } }

export function keepForms(): void {
  restore()
  // Before the console empties its field.
  document.addEventListener('submit', onSubmit, { capture: true })
  document.addEventListener('htmx:before:response', (event) => {
    const { target, request, response } = (event as CustomEvent<{ ctx: HtmxRequest }>).detail.ctx
    if (target instanceof Element && target.id === 'side-panel') inPanel = request.action
    // With a 401 the page goes to the sign-in next.
    if (response?.status !== 401) sessionStorage.removeItem(keptKey)
  })
}

function onSubmit({ target }: Event): void {
  if (!(target instanceof HTMLFormElement)) return
  if (target.matches('.who')) {
    sessionStorage.clear()
  } else if (target.method === 'post') keep(target)
}

function keep(form: HTMLFormElement): void {
  const account = accountHere()
  const fields = [...form.elements].flatMap(toPair)
  if (account === undefined || fields.length === 0) return
  const path = form.closest('#side') && inPanel ? inPanel : location.pathname + location.search
  const action = form.getAttribute('action') ?? ''
  write({ path, account, action, fields })
}

/** The name and the value of a field that was filled in; hidden ones and secrets stay out. */
function toPair(field: Element): [string, string][] {
  if (field instanceof HTMLInputElement) {
    if (/^(hidden|password|file|submit|button)$/.test(field.type)) return []
    const isBox = field.type === 'checkbox' || field.type === 'radio'
    if (isBox) return [[`${field.name}=${field.value}`, field.checked ? 'on' : '']]
  } else if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement)) {
    return []
  }
  return secretNames.test(field.name) ? [] : [[field.name, field.value]]
}

/** Puts the fields back after the sign-in; any other page means that the form was answered. */
function restore(): void {
  const kept = read()
  if (kept && location.pathname === signIn) askToSignIn(kept)
  else if (kept) putBack(kept)
}

function putBack(kept: KeptForm): void {
  const account = accountHere()
  const isHere = kept.path === location.pathname + location.search
  const isOther = account !== undefined && account !== kept.account
  if (kept.isOver && !isOther && (account === undefined || !isHere)) return
  sessionStorage.removeItem(keptKey)
  const form = [...document.forms].find((one) => one.getAttribute('action') === kept.action)
  if (!form || !kept.isOver || isOther) return
  const values = new Map(kept.fields)
  for (const field of form.elements) fill(field, values)
  form.dispatchEvent(new Event('input', { bubbles: true }))
  form.before(
    note('Your session had ended.', 'What you typed is back. Nothing was changed: send it again.'),
  )
  form.querySelector<HTMLElement>('button[type="submit"], button:not([type])')?.focus()
}

function fill(field: Element, values: ReadonlyMap<string, string>): void {
  if (field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio')) {
    const value = values.get(`${field.name}=${field.value}`)
    if (value !== undefined) field.checked = value === 'on'
  } else if (
    field instanceof HTMLInputElement ||
    field instanceof HTMLTextAreaElement ||
    field instanceof HTMLSelectElement
  ) {
    const value = values.get(field.name)
    if (value !== undefined && field.type !== 'hidden') field.value = value
  }
}

/** Says on the sign-in what is kept, and goes on to the page that has the form. */
function askToSignIn(kept: KeptForm): void {
  write({ ...kept, isOver: true })
  const query = new URLSearchParams(location.search)
  if (query.get('next') !== kept.path && !query.has('nonce')) {
    query.set('next', kept.path)
    location.replace(`${signIn}?${query}`)
    return
  }
  const words = 'What you typed is kept in this tab and comes back after you sign in.'
  document.getElementById('main')?.prepend(note('Your session has ended.', words))
}

const note = (title: string, words: string): HTMLElement =>
  element(
    'div',
    { class: 'note warn', role: 'status' },
    element('p', {}, element('strong', {}, title), ` ${words}`),
  )

const accountHere = (): string | undefined =>
  document.querySelector<HTMLElement>('[data-account]')?.dataset['account']

const write = (kept: KeptForm): void => sessionStorage.setItem(keptKey, JSON.stringify(kept))

function read(): KeptForm | undefined {
  const text = sessionStorage.getItem(keptKey)
  return text === null ? undefined : (JSON.parse(text) as KeptForm)
}
