/** Decides which wallets are operators. */
import type { Settings } from '../../app/deps-port.ts'

/** Whether a wallet is an operator's in the current configuration; call it for each request. */
export const isAdmin = ({ admins }: Pick<Settings, 'admins'>, account: string): boolean =>
  admins.includes(account)
