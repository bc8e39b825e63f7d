/** Explains faults of a wallet by the codes of EIP-1193 and JSON-RPC, in words for people. */
const byCode: Record<number, string> = {
  4001: 'You closed the request. Nothing was signed.',
  4100: 'Your wallet does not allow this site to ask. Nothing was signed: allow it there.',
  4200: 'This wallet cannot sign texts. Nothing was signed: choose another one.',
  4900: 'Your wallet is not connected. Nothing was signed: open it and try again.',
  [-32002]: 'Your wallet already has a request open. Answer it there, then try again.',
  [-32601]: 'This wallet cannot sign texts. Nothing was signed: choose another one.',
}

const byReason: Record<string, string> = {
  locked: 'Your wallet is locked or shared no account. Unlock it and choose it again.',
  changed: 'You changed the account. Nothing was signed: choose the wallet again.',
  gone: 'Your wallet was disconnected. Nothing was signed: open it and try again.',
  offline: 'The server cannot be reached. Nothing was signed in: try again.',
}

/** An error of a wallet, of the server or of ours, in a sentence or two. */
export function wordsOf(error: unknown): string {
  const { code, message, refusal } = (error ?? {}) as Record<string, unknown>
  if (typeof refusal === 'string') return refusal
  const known =
    byCode[Number(code)] ?? (typeof message === 'string' ? byReason[message] : undefined)
  if (known !== undefined) return known
  // Some wallets say it in their own way: code -32603 with "User rejected the request".
  if (/reject|denied|cancel/i.test(String(message))) return byCode[4001] ?? ''
  return 'Your wallet did not answer as it should. Nothing was signed: try again.'
}
