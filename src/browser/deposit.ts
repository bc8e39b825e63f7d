/** Deposits from a wallet in the browser. */
import { unitsOf } from '../billing/deposits/payment.ts'
import { parseUsd } from '../kernel/money.ts'
import { chosenKey } from './chosen-wallet.ts'
import { depositWordsOf } from './deposit-words.ts'
import { byId } from './dom.ts'
import { type AnnouncedWallet, type Provider, readAnnounced } from './provider.ts'

/** "Deposit with wallet": the browser's wallet sends the transfer, and the page shows progress. */

const chainHex = '0x1237'
/** The description of chain 4663 for a wallet that does not know it. */
const chainFacts = {
  chainId: chainHex,
  chainName: 'Robinhood Chain',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: ['https://rpc.mainnet.chain.robinhood.com'],
  blockExplorerUrls: ['https://robinhoodchain.blockscout.com'],
}
/** How often, and how far apart in ms, the wallet is asked what became of a transfer. */
const looks = 60
const lookMs = 1000

const wallets = new Map<string, AnnouncedWallet>()
let busy = false

window.addEventListener('eip6963:announceProvider', (event) => {
  const wallet = readAnnounced((event as CustomEvent<unknown>).detail)
  if (!wallet) return
  wallets.set(wallet.id, wallet)
  offer()
})
window.dispatchEvent(new Event('eip6963:requestProvider'))
offer()
// The panel is redrawn for another amount.
document.addEventListener('htmx:after:swap', offer)
document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement && target.id === 'pay-amount') linkTo(target.value)
})

document.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('#wallet-send') : null
  if (!(button instanceof HTMLButtonElement) || busy) return
  busy = true
  button.disabled = true
  try {
    const { provider, hash } = await send()
    say(`Sent: ${hash.slice(0, 10)}…${hash.slice(-6)}. It shows below within seconds of its block.`)
    if (await hasFailed(provider, hash)) throw new Error('failed')
  } catch (error) {
    say(depositWordsOf(error))
  } finally {
    busy = false
    button.disabled = false
  }
})

/** Only where there is a wallet to ask; it stands in the place of the link to a wallet app. */
function offer(): void {
  const button = document.getElementById('wallet-send')
  if (button && chosen()) button.hidden = false
}

/** Puts an amount into the link as it is typed: the server's answer comes too late for a tap. */
function linkTo(typed: string): void {
  const place = byId('wallet-deposit', HTMLElement)
  const { decimals = '', least = '' } = place.dataset
  const link = place.querySelector('a')
  if (!link) return
  const amount = parseUsd(typed.trim())
  const isEnough = amount !== undefined && amount >= BigInt(least) && amount > 0n
  const sum = isEnough ? `&uint256=${unitsOf(amount, Number(decimals))}` : ''
  link.href = link.href.replace(/&uint256=\d+$/, '') + sum
}

/** The wallet that was signed in with, or the only one there is. */
function chosen(): Provider | undefined {
  const known = wallets.get(sessionStorage.getItem(chosenKey) ?? '')
  const { ethereum } = window as { ethereum?: Provider }
  const first = [...wallets.values()][0]
  return known?.provider ?? first?.provider ?? (ethereum?.request ? ethereum : undefined)
}

async function send(): Promise<{ provider: Provider; hash: string }> {
  const {
    of = '',
    treasury = '',
    token = '',
    decimals = '',
    least = '',
  } = byId('wallet-deposit', HTMLElement).dataset
  const provider = chosen()
  if (!provider) throw new Error('none')
  const amount = parseUsd(byId('pay-amount', HTMLInputElement).value.trim())
  if (amount === undefined || amount < BigInt(least) || amount === 0n) throw new Error('amount')
  say('Waiting for your wallet: choose the account there.')
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as unknown[]
  if (typeof account !== 'string') throw new Error('locked')
  // From another wallet it would be credited to another account.
  if (account.toLowerCase() !== of.toLowerCase()) {
    throw Object.assign(new Error('other'), {
      other: `${account.slice(0, 6)}…${account.slice(-4)}`,
    })
  }
  await toChain(provider)
  say('Waiting for your wallet: confirm the transfer there.')
  const data = transferCall(treasury, unitsOf(amount, Number(decimals)))
  const params = [{ from: account, to: token, data, value: '0x0' }]
  const hash = await provider.request({ method: 'eth_sendTransaction', params })
  return { provider, hash: String(hash) }
}

/** Whether it came into a block and failed there, as far as the wallet can tell soon. */
async function hasFailed(provider: Provider, hash: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    const params = [hash]
    const receipt = await provider
      .request({ method: 'eth_getTransactionReceipt', params })
      .catch(() => ({ status: undefined }))
    if (receipt) return (receipt as { status?: unknown }).status === '0x0'
    await new Promise((done) => setTimeout(done, lookMs))
  }
  return false
}

/** Brings a wallet onto chain 4663, which it may have to learn of first. */
async function toChain(provider: Provider): Promise<void> {
  const isThere = async () =>
    String(await provider.request({ method: 'eth_chainId' })).toLowerCase() === chainHex
  if (await isThere()) return
  say('Waiting for your wallet: switch to chain 4663 there.')
  const params = [{ chainId: chainHex }]
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params })
  } catch (error) {
    if (!isUnknownChain(error)) throw error
    say('Waiting for your wallet: add chain 4663 there.')
    await provider.request({ method: 'wallet_addEthereumChain', params: [chainFacts] })
    if (!(await isThere())) await provider.request({ method: 'wallet_switchEthereumChain', params })
  }
  if (!(await isThere())) throw new Error('chain')
}

/** Some wallets wrap the code into an error of their own. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { originalError?: unknown } }
  const inner = (data?.originalError ?? {}) as { code?: unknown }
  return code === 4902 || inner.code === 4902
}

/** `transfer(address,uint256)`. */
const transferCall = (to: string, units: bigint): string =>
  `0xa9059cbb${to.slice(2).toLowerCase().padStart(64, '0')}${units.toString(16).padStart(64, '0')}`

function say(words: string): void {
  byId('wallet-said', HTMLElement).textContent = words
}
