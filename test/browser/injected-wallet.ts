import type { BrowserContext } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { testPrivateKey } from '../support/world.ts'

export const signer = privateKeyToAccount(`0x${testPrivateKey}`)

/** What the wallet does when it is asked; a test changes it. */
export type Conduct = {
  accounts: string[]
  /** The code and words it refuses with. */
  refuses?: { method: string; code: number; message: string } | undefined
  /** What it answers beyond accounts and signatures; undefined where it knows nothing about it. */
  answers?: (method: string, params: unknown[]) => Promise<object | undefined>
}

/**
 * A wallet in every page of a context, announced by EIP-6963 as "Test Wallet". Its key stays in the
 * test; the page has only the provider. `name` undefined: none is there.
 */
export async function injectWallet(
  context: BrowserContext,
  conduct: Conduct,
  how: 'announced' | 'window.ethereum' = 'announced',
): Promise<{ asked: string[] }> {
  const asked: string[] = []
  await context.exposeFunction('askWallet', async (method: string, params: string[]) => {
    asked.push(method)
    const { accounts, refuses, answers } = conduct
    if (refuses?.method === method) return { error: refuses }
    const answer = await answers?.(method, params)
    if (answer) return answer
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return { result: accounts }
    if (method !== 'personal_sign') return { error: { code: -32601, message: 'no such method' } }
    const raw = params[0] as `0x${string}`
    return { result: await signer.signMessage({ message: { raw } }) }
  })
  await context.addInitScript(provide, how)
  return { asked }
}

/** Runs in the page. */
function provide(how: string): void {
  type Listener = (told: unknown) => void
  const listeners: [string, Listener][] = []
  const { askWallet } = window as unknown as {
    askWallet(method: string, params: unknown[]): Promise<{ result?: unknown; error?: object }>
  }
  const provider = {
    request: async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
      const { result, error } = await askWallet(method, params)
      if (error) throw Object.assign(new Error('wallet'), error)
      return result
    },
    on: (event: string, listener: Listener) => void listeners.push([event, listener]),
    removeListener: (event: string, listener: Listener) => {
      const at = listeners.findIndex(([one, other]) => one === event && other === listener)
      if (at !== -1) listeners.splice(at, 1)
    },
  }
  const emit = (event: string, told: unknown) => {
    for (const [one, listener] of [...listeners]) if (one === event) listener(told)
  }
  Object.assign(window, { emitFromWallet: emit })
  if (how === 'window.ethereum') {
    Object.assign(window, { ethereum: provider })
    return
  }
  const info = {
    uuid: '350670db-19fa-4704-a166-e52e178b59d2',
    name: 'Test Wallet',
    icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
    rdns: 'test.wallet',
  }
  const detail = Object.freeze({ info, provider })
  const announce = () =>
    window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  window.addEventListener('eip6963:requestProvider', announce)
  announce()
}
