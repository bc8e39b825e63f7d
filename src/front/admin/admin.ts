import type { Settings } from '../../app/deps-port.ts'

/** Whether a wallet is one of the operators: asked at each request, of the configuration of now. */
export const isAdmin = ({ admins }: Pick<Settings, 'admins'>, account: string): boolean =>
  admins.includes(account)
