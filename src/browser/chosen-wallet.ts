/** Names the wallet that this tab signed in with, for as long as the tab is open. */

export const chosenKey = 'counterfoil.wallet'

/** Loads the script that ends the session when the wallet turns to another account. */
export function watchWallet(): void {
  const script = document.querySelector<HTMLElement>('[data-wallet]')?.dataset['wallet']
  if (script !== undefined && sessionStorage.getItem(chosenKey) !== null) void import(script)
}
