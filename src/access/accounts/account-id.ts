/** An account is a wallet address. It is stored in lower case and shown in EIP-55's mixed case. */
export const isAddress = (text: string): boolean => /^0x[0-9a-fA-F]{40}$/.test(text)

export const toAccountId = (address: string): string => address.toLowerCase()
