import type { Settings } from '../../deps.ts'

/** Whether a wallet is one of the operators: asked at each request, of the configuration of now. */
export const isAdmin = ({ admins }: Pick<Settings, 'admins'>, account: string): boolean =>
  admins.includes(account)
