/** Signs in with a wallet of the browser. */
import { toHex } from '../kernel/hex.ts'
import { chosenKey } from './chosen-wallet.ts'
import { byId, element } from './dom.ts'
import { type AnnouncedWallet, type Provider, readAnnounced } from './provider.ts'
import { wordsOf } from './wallet-words.ts'

/** The wallets of this browser: signing in with one, and noticing when its account changes. */

/** How long wallets have to announce themselves before it is said that there is none, in ms. */
const patienceMs = 500

const wallets = new Map<string, AnnouncedWallet>()
const place = document.getElementById('wallets')

window.addEventListener('eip6963:announceProvider', (event) => {
  const wallet = readAnnounced((event as CustomEvent<unknown>).detail)
  if (!wallet || wallets.has(wallet.id)) return
  wallets.delete('window.ethereum')
  wallets.set(wallet.id, wallet)
  if (place) show(place)
  watch(wallet)
})
window.dispatchEvent(new Event('eip6963:requestProvider'))
if (place) setTimeout(() => showFallback(place), patienceMs)

/** Wallets of before EIP-6963 have no name to tell. */
function showFallback(place: HTMLElement): void {
  const { ethereum } = window as { ethereum?: Provider }
  if (wallets.size === 0 && typeof ethereum?.request === 'function') {
    const id = 'window.ethereum'
    wallets.set(id, { id, name: 'Browser wallet', icon: undefined, provider: ethereum })
    show(place)
  }
  seen('no-wallet', wallets.size === 0)
}

function show(place: HTMLElement): void {
  seen('no-wallet', false)
  place.replaceChildren(...[...wallets.values()].map((wallet) => buttonOf(wallet, place)))
}

function buttonOf(wallet: AnnouncedWallet, place: HTMLElement): HTMLButtonElement {
  const icon = wallet.icon
    ? element('img', { src: wallet.icon, alt: '', width: '32', height: '32' })
    : element('i')
  const hint = element('small', { class: 'quiet' }, 'Found in this browser')
  const name = element('span', {}, wallet.name, element('br'), hint)
  const state = element('span', { class: 'st ok' }, 'Ready')
  const button = element('button', { type: 'button' }, icon, name, state)
  button.addEventListener('click', async () => {
    const buttons = [...place.querySelectorAll('button')]
    for (const one of buttons) one.disabled = true
    try {
      await signIn(wallet)
    } catch (error) {
      tell(wordsOf(error))
    } finally {
      for (const one of buttons) one.disabled = false
    }
  })
  return button
}

async function signIn({ id, name, provider }: AnnouncedWallet): Promise<void> {
  say(`Waiting for ${name}: choose an account there.`)
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as unknown[]
  if (typeof account !== 'string') throw new Error('locked')
  const { message } = await post<{ message: string }>('/api/auth/nonce', {
    address: account.toLowerCase(),
  })
  say(`Waiting for ${name}: sign the text there. It costs nothing.`)
  const signature = await signWith(provider, account, message)
  say('Checking the signature.')
  await post('/api/auth/verify', { message, signature })
  sessionStorage.setItem(chosenKey, id)
  location.assign(place?.dataset['next'] ?? '/dashboard')
}

/** Gives up when the wallet's account changes meanwhile: it would sign as another one. */
function signWith(provider: Provider, account: string, message: string): Promise<unknown> {
  const { promise: changed, reject } = Promise.withResolvers<never>()
  const stop = (accounts: unknown) => {
    const [now] = Array.isArray(accounts) ? accounts : []
    if (now !== account) reject(new Error(now === undefined ? 'locked' : 'changed'))
  }
  const gone = () => reject(new Error('gone'))
  provider.on?.('accountsChanged', stop)
  provider.on?.('disconnect', gone)
  const params = [toHex(new TextEncoder().encode(message)), account]
  const signed = provider.request({ method: 'personal_sign', params })
  return Promise.race([signed, changed]).finally(() => {
    provider.removeListener?.('accountsChanged', stop)
    provider.removeListener?.('disconnect', gone)
  })
}

/** On signed-in pages: another account in the wallet ends the session. */
function watch({ id, provider }: AnnouncedWallet): void {
  const account = document.querySelector<HTMLElement>('[data-account]')?.dataset['account']
  if (!account || sessionStorage.getItem(chosenKey) !== id) return
  const check = async (accounts: unknown) => {
    const [now] = Array.isArray(accounts) ? accounts : []
    // A locked wallet shows no account, which is not a change of account.
    if (typeof now !== 'string' || now.toLowerCase() === account.toLowerCase()) return
    await post('/api/auth/logout', {})
    sessionStorage.removeItem(chosenKey)
    location.assign('/signin?changed=1')
  }
  provider.on?.('accountsChanged', check)
  provider.request({ method: 'eth_accounts' }).then(check, () => {})
}

const shardHeader = 'x-counterfoil-shard'
/** The shard that the last answer named: the wallet's account is there. */
let shard: string | null = null

/** @throws Error with the server's own words */
async function post<T>(path: string, body: unknown, isAgain = false): Promise<T> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(shard === null ? {} : { [shardHeader]: shard }),
    },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new Error('offline')
  })
  if (answer.status === 421 && answer.headers.has(shardHeader) && !isAgain) {
    shard = answer.headers.get(shardHeader)
    return post(path, body, true)
  }
  const told = await answer.json().catch(() => undefined)
  const refusal = told?.error?.message ?? 'The server did not answer as it should.'
  if (!answer.ok) throw Object.assign(new Error('refused'), { refusal })
  return told
}

function say(words: string): void {
  byId('wallet-status', HTMLElement).textContent = words
  seen('wallet-status', true)
  seen('wallet-hint', false)
  seen('wallet-trouble', false)
}

/** The first sentence stands out. */
function tell(words: string): void {
  const end = words.indexOf('. ') + 1
  byId('wallet-trouble-title', HTMLElement).textContent = end ? words.slice(0, end) : words
  byId('wallet-trouble-more', HTMLElement).textContent = end ? words.slice(end) : ''
  seen('wallet-trouble', true)
  seen('wallet-status', false)
  seen('wallet-hint', false)
}

function seen(id: string, isSeen: boolean): void {
  document.getElementById(id)?.classList.toggle('unseen', !isSeen)
}
