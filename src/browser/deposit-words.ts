/** Explains failed transfers of a wallet by their codes, in words for people. */
const byCode: Record<number, string> = {
  4001: 'You closed the request. Nothing was sent.',
  4100: 'Your wallet does not allow this site to ask. Nothing was sent: allow it there.',
  4200: 'This wallet cannot send a transfer from a page. Nothing was sent: use the address.',
  4900: 'Your wallet is not connected. Nothing was sent: open it and try again.',
  4901: 'Your wallet cannot reach chain 4663. Nothing was sent: try again later.',
  4902: 'Your wallet does not know chain 4663. Nothing was sent: add it there, then try again.',
  [-32000]:
    'Your wallet refused the transfer. Check that it has enough of the token, and ETH for the fee.',
  [-32002]: 'Your wallet already has a request open. Answer it there, then try again.',
  [-32003]:
    'Your wallet refused the transfer. Check that it has enough of the token, and ETH for the fee.',
  [-32601]: 'This wallet cannot send a transfer from a page. Nothing was sent: use the address.',
}

const byReason: Record<string, string> = {
  amount: 'Enter an amount first, such as 25.00, at or above the minimum.',
  locked: 'Your wallet is locked or shared no account. Nothing was sent: unlock it.',
  chain: 'Your wallet stayed on another chain. Nothing was sent: switch it to chain 4663.',
  failed: 'The transfer failed on the chain. Nothing was deposited. Check that you have enough.',
  none: 'There is no wallet in this browser. Send to the address with the wallet you have.',
}

/** An error of a wallet or of ours, in a sentence or two. */
export function depositWordsOf(error: unknown): string {
  const { code, message, other } = (error ?? {}) as Record<string, unknown>
  if (typeof other === 'string') {
    return `Your wallet is on ${other}, which is another account here. Nothing was sent: switch it.`
  }
  const said = typeof message === 'string' ? message : ''
  const known = byReason[said] ?? byCode[Number(code)]
  if (known !== undefined) return known
  if (/reject|denied|cancel/i.test(said)) return byCode[4001] ?? ''
  if (/insufficient|exceeds/i.test(said)) return byCode[-32000] ?? ''
  return 'Your wallet did not answer as it should. Check there whether anything was sent.'
}
